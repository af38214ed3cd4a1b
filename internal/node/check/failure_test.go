// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

func TestAFailureIsToldOncePerReason(t *testing.T) {
	refused := result{kind: api.TroubleCheckRefused, output: "refused"}
	broken := func(n int) result {
		return result{kind: api.TroubleCheckFailed, code: 500, output: fmt.Sprintf("500: request %d", n)}
	}
	answer := func(n int) result {
		switch {
		case n <= 2:
			return refused
		case n <= 6:
			return broken(n)
		}
		return result{ok: true}
	}
	scripted(t, answer, func(s *Scheduler, probes *[]time.Duration) {
		var told []string
		s.Add("a", &Target{ID: "1", Check: checkOf(time.Second, func(c *api.Check) { c.Type = api.CheckHTTP }), Service: "web", Task: "server", Changed: func(id, status string) {
			line := status
			if f := s.Failure("a", id); f != nil {
				line += fmt.Sprintf(": %s %s %d %q of %s in %s", f.Kind, f.Check, f.StatusCode, f.Answer, f.Service, f.Task)
			}
			told = append(told, line)
		}})
		time.Sleep(10 * time.Second)
		synctest.Wait()
		want := []string{
			`failure: check_refused c 0 "refused" of web in server`,
			`failure: check_failed c 500 "500: request 3" of web in server`,
			"success",
		}
		if d := cmp.Diff(want, told); d != "" {
			t.Errorf("told after %d probes (-want +got):\n%s", len(*probes), d)
		}
		if s.Failure("a", "none") != nil || s.Failure("none", "1") != nil {
			t.Error("a check that is not there has failed")
		}
	})
}

func TestReasonsAreLookedForSeldom(t *testing.T) {
	scripted(t, func(int) result { return result{kind: api.TroubleCheckRefused, output: "refused"} }, func(s *Scheduler, probes *[]time.Duration) {
		begun := time.Now()
		var looks []time.Duration
		s.Add("a", &Target{ID: "1", Check: checkOf(time.Second), Diagnose: func(refused bool) (api.TroubleKind, string) {
			if !refused {
				t.Error("nobody answered, and the look is for who did")
			}
			looks = append(looks, time.Since(begun))
			return api.TroubleWrongAddress, "it is elsewhere"
		}})
		time.Sleep(25 * time.Second)
		synctest.Wait()
		if len(looks) != 3 || looks[0] < diagnosisDelay || looks[1]-looks[0] < diagnosisInterval || looks[2]-looks[1] < diagnosisInterval {
			t.Errorf("looked after %v of %d probes; want 3 looks, the first after %s, then every %s", looks, len(*probes), diagnosisDelay, diagnosisInterval)
		}
		f := s.Failure("a", "1")
		if f == nil || f.Kind != api.TroubleWrongAddress || f.Answer != "refused; it is elsewhere" {
			t.Errorf("the failure is %+v", f)
		}
		if out := s.Statuses("a")["1"].Output; out != "refused; it is elsewhere" {
			t.Errorf("the check's output is %q", out)
		}
	})
}

func TestKindsOfFailures(t *testing.T) {
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer slow.Close()
	ill := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "ill", http.StatusTeapot) }))
	defer ill.Close()
	p := newProber()
	for _, test := range []struct {
		name, kind, address string
		want                api.TroubleKind
	}{
		{"nobody", api.CheckTCP, "127.0.0.1:1", api.TroubleCheckRefused},
		{"nobody", api.CheckHTTP, "127.0.0.1:1", api.TroubleCheckRefused},
		{"nobody", api.CheckGRPC, "127.0.0.1:1", api.TroubleCheckRefused},
		{"too late", api.CheckHTTP, slow.Listener.Addr().String(), api.TroubleCheckTimeout},
		{"wrong answer", api.CheckHTTP, ill.Listener.Addr().String(), api.TroubleCheckFailed},
		{"wrong protocol", api.CheckGRPC, ill.Listener.Addr().String(), api.TroubleCheckFailed},
		{"no such type", "smoke", "", api.TroubleCheckFailed},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		r := p.probe(ctx, &Target{Check: &api.Check{Type: test.kind}, Address: test.address})
		cancel()
		if r.ok || r.kind != test.want {
			t.Errorf("%s by %s: %s (%s), want %s", test.name, test.kind, r.kind, strings.TrimSpace(r.output), test.want)
		}
	}
}
