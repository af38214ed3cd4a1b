// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// scripted is a scheduler whose probes are answered by the test, in virtual
// time.
func scripted(t *testing.T, answer func(n int) result, do func(s *Scheduler, probes *[]time.Duration)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		s := New()
		begun := time.Now()
		var probes []time.Duration
		s.probe = func(context.Context, *Target) result {
			probes = append(probes, time.Since(begun))
			return answer(len(probes))
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); s.Run(ctx) }()
		do(s, &probes)
		cancel()
		<-done
	})
}

func checkOf(interval time.Duration, change ...func(*api.Check)) *api.Check {
	c := &api.Check{Name: "c", Type: api.CheckTCP, Interval: interval, Timeout: time.Second}
	for _, do := range change {
		do(c)
	}
	return c
}

func TestPollsQuicklyUntilTheFirstSuccess(t *testing.T) {
	scripted(t, func(n int) result { return result{ok: n >= 9} }, func(s *Scheduler, probes *[]time.Duration) {
		s.Add("a", &Target{ID: "1", Check: checkOf(10 * time.Second)})
		time.Sleep(30 * time.Second)
		synctest.Wait()
		ms := time.Millisecond
		want := []time.Duration{0, 20 * ms, 70 * ms, 170 * ms, 420 * ms, 920 * ms, 1420 * ms, 1920 * ms, 2420 * ms}
		if d := cmp.Diff(want, (*probes)[:9]); d != "" {
			t.Errorf("first probes (-want +got):\n%s", d)
		}
		for i := 9; i < len(*probes); i++ {
			if gap := (*probes)[i] - (*probes)[i-1]; gap < 9*time.Second || gap > 10*time.Second {
				t.Errorf("probe %d came %s after the last; want about 10s", i, gap)
			}
		}
	})
}

func TestThresholds(t *testing.T) {
	answers := []bool{true, false, true, true, false, false, false, true}
	want := []string{"pending", "failure", "failure", "success", "success", "failure", "failure", "failure"}
	e := &entry{target: &Target{Check: checkOf(time.Second, func(c *api.Check) { c.SuccessBeforePassing, c.FailuresBeforeCritical = 2, 2 })}, status: "pending"}
	var got []string
	for _, ok := range answers {
		e.judge(result{ok: ok}, time.Now())
		got = append(got, e.status)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("statuses (-want +got):\n%s", d)
	}
}

func TestRestartsAfterLimitFailuresOutsideGrace(t *testing.T) {
	scripted(t, func(int) result { return result{output: "ill"} }, func(s *Scheduler, _ *[]time.Duration) {
		begun := time.Now()
		var restarts []time.Duration
		grace := 5 * time.Second
		c := checkOf(2*time.Second, func(c *api.Check) { c.CheckRestart = &api.CheckRestart{Limit: 3, Grace: &grace} })
		s.Add("a", &Target{ID: "1", Check: c, Service: "s", Failed: func(_, _, why string) {
			if want := `Unhealthy: check "c" of service "s" failed 3 times in a row (check_restart): ill`; why != want {
				t.Errorf("reason = %q, want %q", why, want)
			}
			restarts = append(restarts, time.Since(begun))
		}})
		time.Sleep(12 * time.Second)
		synctest.Wait()
		if len(restarts) != 1 || restarts[0] < 9*time.Second || restarts[0] > 10*time.Second {
			t.Errorf("restarts at %v; want one, three intervals after the grace of 5s", restarts)
		}
	})
}

func TestRemovedCheckIsSilent(t *testing.T) {
	scripted(t, func(int) result { return result{ok: true} }, func(s *Scheduler, probes *[]time.Duration) {
		s.Add("a", &Target{ID: "1", Check: checkOf(time.Second)})
		synctest.Wait()
		s.Remove("a", "1")
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(*probes) != 1 || len(s.Statuses("a")) != 0 {
			t.Errorf("%d probes, %d statuses after the check was removed", len(*probes), len(s.Statuses("a")))
		}
	})
}

func TestTenThousandChecksSpreadOut(t *testing.T) {
	scripted(t, func(int) result { return result{ok: true} }, func(s *Scheduler, probes *[]time.Duration) {
		s.probe = func(context.Context, *Target) result { return result{ok: true} }
		for i := range 10000 {
			s.Add(fmt.Sprint("a", i), &Target{ID: "1", Check: checkOf(10 * time.Second)})
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.queue.Len() != 10000 {
			t.Errorf("%d checks wait; want 10000", s.queue.Len())
		}
		spread := s.queue.Items()[s.queue.Len()-1].due.Sub(s.queue.Items()[0].due)
		for _, e := range s.queue.Items() {
			spread = max(spread, e.due.Sub(s.queue.Items()[0].due))
		}
		if spread < 3*time.Second {
			t.Errorf("after a minute all are due within %s; want them spread over the interval", spread)
		}
	})
}

func TestProbes(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ok":
			fmt.Fprint(w, "fine")
		case "/echo":
			if r.Method != "POST" || r.Header.Get("X-A") != "b" || r.Host != "name" {
				w.WriteHeader(http.StatusBadRequest)
			}
		case "/slow":
			<-r.Context().Done()
		default:
			http.Error(w, "not here", http.StatusNotFound)
		}
	}))
	defer web.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer secure.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	closed.Close()
	at := strings.TrimPrefix(web.URL, "http://")
	p := newProber()
	for _, c := range []struct {
		name    string
		check   api.Check
		address string
		ok      bool
		code    int
		output  string
	}{
		{"http", api.Check{Type: "http", Path: "/ok"}, at, true, 200, "http: GET " + web.URL + "/ok: 200 OK in "},
		{"method, header, host", api.Check{Type: "http", Path: "echo", Method: "POST", Header: map[string][]string{"X-A": {"b"}, "Host": {"name"}}}, at, true, 200, "200 OK"},
		{"status", api.Check{Type: "http", Path: "/none"}, at, false, 404, ": not here"},
		{"timeout", api.Check{Type: "http", Path: "/slow"}, at, false, 0, ": no answer within "},
		{"refused", api.Check{Type: "http", Path: "/"}, nobody, false, 0, "connection refused"},
		{"certificate", api.Check{Type: "http", Path: "/", Protocol: "https"}, secure.Listener.Addr().String(), false, 0, "certificate"},
		{"skip verify", api.Check{Type: "http", Path: "/", Protocol: "https", TLSSkipVerify: true}, secure.Listener.Addr().String(), true, 200, "200 OK"},
		{"tcp", api.Check{Type: "tcp"}, at, true, 0, "tcp: connected to " + at},
		{"tcp refused", api.Check{Type: "tcp"}, nobody, false, 0, "connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.check.Timeout = 100 * time.Millisecond
			if c.name != "timeout" {
				c.check.Timeout = 10 * time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), c.check.Timeout)
			defer cancel()
			r := p.probe(ctx, &Target{Check: &c.check, Address: c.address})
			if r.ok != c.ok || r.code != c.code || !strings.Contains(r.output, c.output) {
				t.Errorf("got %+v; want ok=%t code=%d output with %q", r, c.ok, c.code, c.output)
			}
		})
	}
}
