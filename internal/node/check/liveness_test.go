// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// told is what a target's owner heard, and when.
type told struct {
	At   time.Duration
	What string
}

// listening is a target that keeps what it is told.
func listening(c *api.Check, heard *[]told) *Target {
	begun := time.Now()
	tell := func(what string) { *heard = append(*heard, told{time.Since(begun).Round(time.Second), what}) }
	return &Target{
		ID: "1", Check: c, Service: "web",
		Changed: func(_, status string) { tell(status) },
		Failed:  func(_, _, why string) { tell(why) },
	}
}

func liveness(change ...func(*api.Check)) *api.Check {
	return checkOf(10*time.Second, append([]func(*api.Check){func(c *api.Check) { c.Kind = api.CheckKindLiveness }}, change...)...)
}

func TestNeverHealthyWithinTheStartTimeout(t *testing.T) {
	scripted(t, func(int) result { return result{output: "tcp: connect to 127.0.0.1:80: connection refused"} }, func(s *Scheduler, probes *[]time.Duration) {
		var heard []told
		s.Add("a", listening(liveness(func(c *api.Check) { c.StartTimeout = 10 * time.Second }), &heard))
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []told{
			{0, "failure"},
			{10 * time.Second, `Never healthy: liveness check "c" of service "web" did not pass within 10s of the start (asked 24 times): tcp: connect to 127.0.0.1:80: connection refused`},
		}
		if d := cmp.Diff(want, heard); d != "" {
			t.Errorf("told (-want +got):\n%s", d)
		}
	})
}

func TestStartTimeoutCutsAProbeShort(t *testing.T) {
	scripted(t, nil, func(s *Scheduler, _ *[]time.Duration) {
		s.probe = func(ctx context.Context, t *Target) result {
			begun := time.Now()
			<-ctx.Done()
			return result{output: explain(ctx, "http: GET /", begun, ctx.Err())}
		}
		var heard []told
		c := liveness(func(c *api.Check) { c.StartTimeout, c.Timeout = 4*time.Second, 3*time.Second })
		s.Add("a", listening(c, &heard))
		time.Sleep(time.Minute)
		synctest.Wait()
		want := told{4 * time.Second, `Never healthy: liveness check "c" of service "web" did not pass within 4s of the start (asked 2 times): http: GET /: no answer within 3s`}
		if d := cmp.Diff(want, heard[len(heard)-1]); d != "" {
			t.Errorf("told last (-want +got):\n%s", d)
		}
	})
}

// TestAProbeThatIsCutShortHidesNoAnswer has the start timeout end the last of several probes.
// The message contains the answer to the one before.
func TestAProbeThatIsCutShortHidesNoAnswer(t *testing.T) {
	scripted(t, nil, func(s *Scheduler, _ *[]time.Duration) {
		const refused = "tcp: connect to 127.0.0.1:80: connection refused"
		asked := 0
		s.probe = func(ctx context.Context, t *Target) result {
			if asked++; asked != 3 {
				return result{output: refused, kind: api.TroubleCheckRefused}
			}
			begun := time.Now()
			<-ctx.Done()
			return unanswered(ctx, "tcp: connect to 127.0.0.1:80", begun, ctx.Err())
		}
		var heard []told
		c := liveness(func(c *api.Check) { c.StartTimeout, c.Timeout = 2*time.Second, 3*time.Second })
		s.Add("a", listening(c, &heard))
		time.Sleep(time.Minute)
		synctest.Wait()
		want := told{2 * time.Second, `Never healthy: liveness check "c" of service "web" did not pass within 2s of the start (asked 3 times): ` + refused}
		if d := cmp.Diff(want, heard[len(heard)-1]); d != "" {
			t.Errorf("told last (-want +got):\n%s", d)
		}
		if f := s.Failure("a", "1"); f == nil || f.Kind != api.TroubleCheckRefused {
			t.Errorf("the failure is %+v, want that of the probes that were not cut short", f)
		}
	})
}

func TestWithoutStartTimeoutItMayTakeForEver(t *testing.T) {
	scripted(t, func(int) result { return result{} }, func(s *Scheduler, probes *[]time.Duration) {
		var heard []told
		s.Add("a", listening(liveness(), &heard))
		time.Sleep(time.Hour)
		synctest.Wait()
		if d := cmp.Diff([]told{{0, "failure"}}, heard); d != "" {
			t.Errorf("told (-want +got):\n%s", d)
		}
		// What stays ill is asked less and less often, down to its interval.
		last := (*probes)[len(*probes)-1] - (*probes)[len(*probes)-2]
		if last != 10*time.Second {
			t.Errorf("after an hour it is asked every %s, want its interval", last)
		}
	})
}

func TestLivenessFailsAfterItsThreshold(t *testing.T) {
	well := func(n int) bool { return n <= 7 || n == 9 }
	answer := func(n int) result {
		if well(n) {
			return result{ok: true}
		}
		return result{output: "http: GET http://127.0.0.1:8080/ping: 503 Service Unavailable in 2ms: I am\nill"}
	}
	scripted(t, answer, func(s *Scheduler, probes *[]time.Duration) {
		var heard []told
		s.Add("a", listening(liveness(func(c *api.Check) { c.FailuresBeforeCritical = 3 }), &heard))
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		crash := (*probes)[11].Round(time.Second) // the third failure in a row, after one that did not count
		want := []told{
			{0, "success"},
			{crash, `Became unhealthy after ` + crash.String() + `: liveness check "c" of service "web" failed 3 times in a row: http: GET http://127.0.0.1:8080/ping: 503 Service Unavailable in 2ms: I am ill`},
		}
		want[1].What = `Became unhealthy after ` + formatDelay(crash) + want[1].What[len(`Became unhealthy after `+crash.String()):]
		if d := cmp.Diff(want, heard[:2]); d != "" {
			t.Errorf("told (-want +got):\n%s", d)
		}
		if n := len(heard); n != 2 {
			t.Errorf("told %d more things after the crash: %v", n-2, heard[2:])
		}
	})
}

func TestInitialDelay(t *testing.T) {
	scripted(t, func(int) result { return result{ok: true} }, func(s *Scheduler, probes *[]time.Duration) {
		begun := time.Now()
		time.Sleep(2 * time.Second)
		c := checkOf(10*time.Second, func(c *api.Check) { c.InitialDelay = 5 * time.Second })
		s.Add("a", &Target{ID: "1", Check: c, Since: begun})
		s.Add("b", &Target{ID: "1", Check: c, Status: api.CheckStatusSuccess}) // it replaces another one
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if want := []time.Duration{2 * time.Second, 5 * time.Second}; !slices.Equal(*probes, want) {
			t.Errorf("probes at %v, want %v", *probes, want)
		}
	})
}

// What has lost its readiness is asked every half second until it has it again.
func TestLostReadinessIsFoundAgainQuickly(t *testing.T) {
	scripted(t, func(n int) result { return result{ok: n != 2 && n != 3} }, func(s *Scheduler, probes *[]time.Duration) {
		var heard []told
		s.Add("a", listening(checkOf(10*time.Second, func(c *api.Check) { c.Kind = api.CheckKindReadiness }), &heard))
		time.Sleep(25 * time.Second)
		synctest.Wait()
		var gaps []time.Duration
		for i := 2; i < 4; i++ {
			gaps = append(gaps, (*probes)[i]-(*probes)[i-1])
		}
		if want := []time.Duration{500 * time.Millisecond, 500 * time.Millisecond}; !slices.Equal(gaps, want) {
			t.Errorf("asked again after %v, want %v", gaps, want)
		}
		var what []string
		for _, h := range heard {
			what = append(what, h.What)
		}
		if d := cmp.Diff([]string{"success", "failure", "success"}, what); d != "" {
			t.Errorf("told (-want +got):\n%s", d)
		}
	})
}

// A check whose answers alternate moves traffic no faster than its interval, or,
// with thresholds, not at all.
func TestFlappingReadiness(t *testing.T) {
	for _, c := range []struct {
		name        string
		pass, fail  int
		least, most int // changes of its status in ten minutes
		finalStatus string
	}{
		{name: "bare", least: 60, most: 140},
		{name: "slow to fail", fail: 2, least: 1, most: 1, finalStatus: "success"},
		{name: "slow to pass", pass: 2, least: 1, most: 1, finalStatus: "failure"},
	} {
		t.Run(c.name, func(t *testing.T) {
			scripted(t, func(n int) result { return result{ok: n%2 == 1} }, func(s *Scheduler, _ *[]time.Duration) {
				var heard []told
				s.Add("a", listening(checkOf(10*time.Second, func(k *api.Check) {
					k.Kind, k.SuccessBeforePassing, k.FailuresBeforeCritical = api.CheckKindReadiness, c.pass, c.fail
				}), &heard))
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				if n := len(heard); n < c.least || n > c.most {
					t.Errorf("%d changes in ten minutes, want %d to %d", n, c.least, c.most)
				}
				if last := heard[len(heard)-1].What; c.finalStatus != "" && last != c.finalStatus {
					t.Errorf("it ended as %s, want %s", last, c.finalStatus)
				}
			})
		})
	}
}

// A command that ends with its task says nothing about it.
func TestCommandThatEndsWithItsTaskIsNoResult(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := New()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go s.Run(ctx)
		asked := 0
		s.Add("a", &Target{
			ID: "c", Check: &api.Check{Name: "monitor", Type: api.CheckScript, Kind: api.CheckKindLiveness, Command: "x", Interval: time.Second, Timeout: time.Second},
			Exec: func(context.Context, []string, io.Writer) (int, error) {
				if asked++; asked > 1 {
					return -1, ErrGone
				}
				return 0, nil
			},
			Failed: func(_, _, why string) { t.Errorf("it is said to have failed: %s", why) },
		})
		time.Sleep(10 * time.Second)
		if status := s.Statuses("a")["c"].Status; status != api.CheckStatusSuccess || asked < 5 {
			t.Errorf("asked %d times, it is %s", asked, status)
		}
	})
}
