// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A moody web server answers as it is written: + well, - ill, and the last one
// again and again.
type moody struct {
	port string

	mu      sync.Mutex
	answers string
	next    int
	asked   chan struct{} // closed when the last answer was given twice: then the check has judged it
}

func newMoody(t *testing.T) *moody {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &moody{}
	_, m.port, _ = net.SplitHostPort(l.Addr().String())
	m.say("+")
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.answers[min(m.next, len(m.answers)-1)] == '-' {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		if m.next++; m.next == len(m.answers)+1 {
			close(m.asked)
		}
	})}
	served := make(chan struct{})
	go func() { defer close(served); web.Serve(l) }()
	t.Cleanup(func() { web.Close(); <-served })
	return m
}

// say begins a sequence of answers, and returns what is closed when all of them
// were given and judged.
func (m *moody) say(answers string) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers, m.next, m.asked = answers, 0, make(chan struct{})
	return m.asked
}

func TestRealThresholdsOfAProcess(t *testing.T) {
	r, m := runReal(t), newMoody(t)
	task := shell("t", "exec sleep 60")
	none := 0
	task.Restart = &api.Restart{Attempts: &none}
	check := func(name, kind string) *api.Check {
		return &api.Check{
			Name: name, Type: api.CheckHTTP, Path: "/", Kind: kind, Interval: 50 * time.Millisecond, Timeout: 5 * time.Second,
			SuccessBeforePassing: 2, FailuresBeforeCritical: 3,
		}
	}
	task.Services = []*api.Service{{Name: "web", PortLabel: m.port, Checks: []*api.Check{check("ready", api.CheckKindReadiness)}}}
	job := jobOf("service", task)
	r.place(t, job, "one")
	since := r.servers.serving(t, "one", routable).Since

	for _, step := range []struct {
		answers string
		is      bool
	}{
		{"--+--+", true},  // never three in a row
		{"---", false},    // lost
		{"+-+-", false},   // never two in a row
		{"++", true},      // back
		{"--+---", false}, // what passed once in between counts
		{"-+-++", true},
	} {
		was := r.servers.serving(t, "one", func(*api.Serving) bool { return true })
		<-m.say(step.answers)
		now := r.servers.serving(t, "one", func(s *api.Serving) bool { return s.Routable == step.is })
		if flipped := now.Since != was.Since; flipped != (was.Routable != step.is) {
			t.Errorf("after %s: routable %t since %d, and was %t since %d", step.answers, now.Routable, now.Since, was.Routable, was.Since)
		}
		if now.Since < since || !now.Up {
			t.Errorf("after %s it serves %+v", step.answers, now)
		}
		since = now.Since
	}

	// As liveness, the third failure in a row is a crash, and says so. The first
	// allocation's check still asks its server, so the second one has its own.
	m = newMoody(t)
	mortal := shell("t", "exec sleep 60")
	mortal.Restart = task.Restart
	mortal.Services = []*api.Service{{Name: "web", PortLabel: m.port, Checks: []*api.Check{check("alive", api.CheckKindLiveness)}}}
	alive := jobOf("service", mortal)
	alive.ID = "alive"
	r.place(t, alive, "two")
	r.servers.serving(t, "two", routable)
	<-m.say("--+--+")
	if a := r.servers.last("two"); a.Crashes != nil {
		t.Errorf("it crashed too early: %+v", a.Crashes)
	}
	m.say("-")
	matches(t, "the crash", `task "t": Became unhealthy after [0-9a-z]+: liveness check "alive" of service "web" failed 3 times in a row: http: GET http://127.0.0.1:`+
		m.port+`/: 503 Service Unavailable in .*`, r.crashOf(t, "two"))
}
