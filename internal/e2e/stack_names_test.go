// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// entrance is an agent whose router trusts this machine, with its name server.
type entrance struct {
	*machine
	router, names string
}

func newEntrance(t *testing.T) *entrance {
	t.Helper()
	e := &entrance{machine: unstarted(t)}
	for _, address := range []*string{&e.router, &e.names} {
		var err error
		if *address, err = testbed.FreeAddress(); err != nil {
			t.Fatal(err)
		}
	}
	text := fmt.Sprintf("router {\n  http = %q\n  trusted_proxies = [\"127.0.0.0/8\"]\n}\ndns {\n  address = %q\n}\n", e.router, e.names)
	e.Args = []string{"-dev", "-config", e.configured(text)}
	e.start()
	e.waitReady()
	return e
}

// ask sends a request, and returns the version that answers or the router's refusal, and the cookie
// that the client gets.
func (e *entrance) ask(host string, fields ...string) (answer, cookie string) {
	e.t.Helper()
	q, err := http.NewRequestWithContext(e.t.Context(), http.MethodGet, "http://"+e.router+"/", nil)
	if err != nil {
		e.t.Fatal(err)
	}
	q.Host = host
	for i := 0; i < len(fields); i += 2 {
		q.Header.Set(fields[i], fields[i+1])
	}
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		e.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	cookie, _, _ = strings.Cut(resp.Header.Get("Set-Cookie"), ";")
	if _, version, ok := strings.Cut(strings.TrimSpace(string(text)), "version "); ok && resp.StatusCode == http.StatusOK {
		return version, cookie
	}
	return string(text), cookie
}

// answers waits until requests for each host get an answer that begins so.
func (e *entrance) answers(want map[string]string, fields ...string) {
	e.t.Helper()
	for host, want := range want {
		e.eventually(host+" answers "+want, func(context.Context) error {
			if got, _ := e.ask(host, fields...); !strings.HasPrefix(got, want) {
				return fmt.Errorf("%s", got)
			}
			return nil
		})
	}
}

// records returns the answer to a question as "CODE count", and the sum of the weights of its SRV records.
func (e *entrance) records(name string, kind uint16) (answer string, weights int) {
	e.t.Helper()
	q := new(dns.Msg)
	q.SetQuestion(name, kind)
	m, _, err := new(dns.Client).ExchangeContext(e.t.Context(), q, e.names)
	if err != nil {
		e.t.Fatal(err)
	}
	for _, rr := range m.Answer {
		if srv, ok := rr.(*dns.SRV); ok {
			weights += int(srv.Weight)
		}
		if rr.Header().Ttl != 0 {
			e.t.Errorf("%s may be cached", rr)
		}
	}
	return fmt.Sprintf("%s %d", dns.RcodeToString[m.Rcode], len(m.Answer)), weights
}

// TestNamesOfStacksLeadCallersToTheirVersion uses names in the router and in DNS while two versions
// are ready, and while one is garbage.
func TestNamesOfStacksLeadCallersToTheirVersion(t *testing.T) {
	e := newEntrance(t)
	first := stackJob(e.Reeve, "1.0.0", time.Second)
	e.deployStack(first)
	next := stackJob(e.Reeve, "1.1.0", time.Second)
	next.Stack.Shift = &api.ShiftSpec{Policy: api.ShiftNone}
	newer := e.deployStack(next)
	e.reeve("unit", "tag", "web", "canary", "1.1.0")
	e.reeve("namespace", "apply", "default/sandbox")
	e.answers(map[string]string{
		"1.web.default.stack.reeve":           "1.0.0",
		"1-1.web.default.stack.reeve":         "1.1.0",
		"1-1.web.sandbox.default.stack.reeve": "1.1.0",
		"1-0-0.web.default.stack.reeve":       "1.0.0",
		"canary.web.default.stack.reeve":      "1.1.0",
		"1-2.web.default.stack.reeve":         "404 Not Found: no ready stack serves \"1-2.web.default.stack.reeve\": unit web of namespace default has 1.1.0 (ready, tagged canary), 1.0.0 (ready)",
		"1.cart.default.stack.reeve":          "404 Not Found: no stack serves",
	})
	e.answers(map[string]string{"1.web.default.stack.reeve": "403 Forbidden"}, "X-Forwarded-For", "203.0.113.9")
	for name, want := range map[string]string{
		"1.web.default.stack.reeve.": "NOERROR 2 1000", "1-1.web.sandbox.default.stack.reeve.": "NOERROR 2 1000", "_web._tcp.canary.default.stack.reeve.": "NOERROR 2 1000",
		"1-2.web.default.stack.reeve.": "NXDOMAIN 0 0",
	} {
		answer, weights := e.records(name, dns.TypeSRV)
		if got := fmt.Sprint(answer, " ", weights); got != want {
			t.Errorf("SRV %s: records and weights %s, want %s", name, got, want)
		}
	}
	if answer, _ := e.records("1-1.web.default.stack.reeve.", dns.TypeA); answer != "NOERROR 1" {
		t.Errorf("A: %s, want the one address of this machine", answer)
	}

	e.reeve("unit", "tag", "web", "canary")
	e.reeve("stack", "stop", newer)
	e.inState(newer, api.StackGarbage)
	e.answers(map[string]string{
		"1-1.web.default.stack.reeve":    "404 Not Found: no ready stack serves",
		"1-1-0.web.default.stack.reeve":  "1.1.0", // it runs until its grace ends
		"canary.web.default.stack.reeve": "404 Not Found: no ready stack serves",
	})
	e.reeve("stack", "stop", "-now", newer)
	e.inState(newer, api.StackTerminated)
	e.answers(map[string]string{"1-1-0.web.default.stack.reeve": "404 Not Found: no ready stack serves", "1.web.default.stack.reeve": "1.0.0"})
}

// TestPreviewsReachAStackWithoutAShare asks for a version by its number, tag and host.
func TestPreviewsReachAStackWithoutAShare(t *testing.T) {
	e := newEntrance(t)
	for _, version := range []string{"1.0.0", "1.1.0"} {
		job := stackJob(e.Reeve, version, time.Second)
		job.Stack.Shift = &api.ShiftSpec{Policy: api.ShiftNone}
		job.Stack.Expose[0].Preview = api.PreviewTrusted
		e.deployStack(job)
	}
	e.reeve("unit", "tag", "web", "canary", "1.1.0")
	e.answers(map[string]string{"web.test": "1.0.0", "canary--web.test": "1.1.0", "blue--web.test": "404 Not Found: no stack of host \"web.test\" has the tag blue"})
	for field, want := range map[string]string{"1.1.0": "1.1.0", "canary": "1.1.0", "1.0.0": "1.0.0", "1.9.0": "404 Not Found: no stack of host \"web.test\" has the version 1.9.0"} {
		e.answers(map[string]string{"web.test": want}, "Reeve-Stack", field)
	}
	for range 20 {
		if got, _ := e.ask("web.test"); got != "1.0.0" {
			t.Fatalf("a request without the field got %s", got)
		}
	}
}

// TestAStickyClientStaysOnItsStack follows clients with cookies through a shift and its reversal.
func TestAStickyClientStaysOnItsStack(t *testing.T) {
	e := newEntrance(t)
	for _, version := range []string{"1.0.0", "1.1.0"} {
		job := stackJob(e.Reeve, version, time.Second)
		job.Stack.Shift = &api.ShiftSpec{Policy: api.ShiftNone}
		job.Stack.Expose[0].Sticky = api.StickyClient
		e.deployStack(job)
	}
	var cookies []string
	for range 60 {
		_, cookie := e.ask("web.test")
		if !strings.HasPrefix(cookie, "Reeve-Client=") || slices.Contains(cookies, cookie) {
			t.Fatalf("a new client got the cookie %q", cookie)
		}
		cookies = append(cookies, cookie)
	}
	newer := func() (clients []int) {
		for i, cookie := range cookies {
			version, another := e.ask("web.test", "Cookie", cookie)
			if another != "" {
				t.Fatalf("client %d got another cookie", i)
			}
			if version == "1.1.0" {
				clients = append(clients, i)
			}
		}
		return clients
	}
	// moved waits until the clients on the newer stack are others than before, and the same ones
	// twice.
	moved := func(before []int) (now []int) {
		e.eventually("clients have moved, and stay", func(context.Context) error {
			if now = newer(); slices.Equal(now, before) {
				return fmt.Errorf("%d clients on 1.1.0", len(now))
			}
			if again := newer(); !slices.Equal(now, again) {
				return fmt.Errorf("clients on 1.1.0: %v, then %v", now, again)
			}
			return nil
		})
		return now
	}
	contains := func(more, fewer []int) {
		t.Helper()
		for _, i := range fewer {
			if !slices.Contains(more, i) {
				t.Errorf("client %d left the newer stack when its share grew", i)
			}
		}
	}
	if got := newer(); len(got) > 0 {
		t.Fatalf("clients %v are on a stack without a share", got)
	}
	e.reeve("stack", "shift", "-to", "1.1.0", "-detach", "web")
	e.reeve("stack", "shift", "web", "set", "30%")
	third := moved(nil)
	e.reeve("stack", "shift", "web", "set", "60%")
	most := moved(third)
	contains(most, third)
	e.reeve("stack", "shift", "web", "set", "30%")
	if back := moved(most); !slices.Equal(back, third) {
		t.Errorf("the reversal to 30 %% left clients %v on the newer stack, want %v", back, third)
	}
	e.reeve("stack", "shift", "web", "set", "100%")
	if all := moved(third); len(all) != len(cookies) {
		t.Errorf("%d of %d clients are on the newer stack, which has all traffic", len(all), len(cookies))
	}
}
