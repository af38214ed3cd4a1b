// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package founding

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// A lan is a network of servers that start and crash, with connections that fail.
type lan struct {
	t      *testing.T
	dir    string
	expect int

	mu       sync.Mutex
	random   *rand.Rand
	loss     float64             // share of lost questions, and of lost answers
	parts    map[string]int      // a server reaches those with the same number
	running  map[string]*running // by id
	founders map[string][]Server // by id of the founder
}

type running struct {
	agreement *Agreement
	stop      context.CancelFunc
	ended     chan error
}

func newLAN(t *testing.T, expect int, seed uint64) *lan {
	return &lan{
		t: t, dir: t.TempDir(), expect: expect, random: rand.New(rand.NewPCG(seed, 1)),
		parts: map[string]int{}, running: map[string]*running{}, founders: map[string][]Server{},
	}
}

// start starts a server that knows the hosts.
func (l *lan) start(id string, hosts ...string) {
	l.t.Helper()
	l.mu.Lock()
	instance := fmt.Sprint(id, "-", l.random.Uint64())
	l.mu.Unlock()
	a, err := Open(filepath.Join(l.dir, id), Server{ID: id, Instance: instance, Name: id, Address: id, Expect: l.expect})
	if err != nil {
		l.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(l.t.Context())
	r := &running{a, stop, make(chan error, 1)}
	l.mu.Lock()
	l.running[id] = r
	l.mu.Unlock()
	go func() {
		members, err := a.Run(ctx, Env{
			Hosts: func(context.Context) []string { return hosts }, Interval: time.Second, Logger: slog.New(slog.DiscardHandler),
			Ask: func(_ context.Context, to string, r Request) (Server, error) { return l.ask(id, to, r) },
		})
		l.mu.Lock()
		if members != nil {
			l.founders[id] = members
		}
		l.mu.Unlock()
		r.ended <- err
	}()
}

// crash ends a server. Its file remains.
func (l *lan) crash(id string) error {
	l.mu.Lock()
	r := l.running[id]
	delete(l.running, id)
	l.mu.Unlock()
	if r == nil {
		return nil
	}
	r.stop()
	return <-r.ended
}

func (l *lan) ask(from, to string, r Request) (Server, error) {
	lost := errors.New("connection refused")
	l.mu.Lock()
	other := l.running[to]
	cut := other == nil || l.parts[from] != l.parts[to]
	question, answer := l.random.Float64() < l.loss, l.random.Float64() < l.loss
	l.mu.Unlock()
	if cut || question {
		return Server{}, lost
	}
	s, err := other.agreement.Answer(from, r)
	if answer {
		return Server{}, lost
	}
	return s, err
}

func (l *lan) foundersNow() map[string][]Server {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string][]Server{}
	for id, members := range l.founders {
		all[id] = members
	}
	return all
}

func TestThreeServersFoundOneCluster(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l := newLAN(t, 3, 1)
		hosts := []string{"a", "b", "c"}
		l.start("b", hosts...)
		l.start("c", hosts...)
		time.Sleep(time.Minute)
		if f := l.foundersNow(); len(f) != 0 {
			t.Fatalf("two of three servers founded a cluster: %v", f)
		}
		l.start("a", hosts...)
		time.Sleep(5 * time.Second)
		f := l.foundersNow()
		if len(f) != 1 || len(f["a"]) != 3 {
			t.Errorf("founders %v; want a with three servers", f)
		}
		for _, id := range hosts {
			if err := l.crash(id); err != nil {
				t.Errorf("server %s ended: %v", id, err)
			}
		}
		// A server that returns does not found again, and the founder keeps its servers.
		l.start("a", hosts...)
		l.start("b", hosts...)
		time.Sleep(5 * time.Second)
		if f := l.foundersNow(); len(f) != 1 || len(f["a"]) != 3 {
			t.Errorf("after a restart: founders %v", f)
		}
	})
}

// TestHalvesNeverFoundTwoClusters crashes and separates servers at random. At most one founds a
// cluster, with a majority of all, and one does when everything works again.
func TestHalvesNeverFoundTwoClusters(t *testing.T) {
	for seed := range uint64(60) {
		expect := 2 + int(seed%3)
		size := expect + int(seed/3)%expect // up to 2*expect-1 servers
		bubble.Test(t, func(t *testing.T) {
			l := newLAN(t, expect, seed)
			var hosts []string
			for i := range size {
				hosts = append(hosts, string(rune('a'+i)))
			}
			choose := rand.New(rand.NewPCG(seed, 2))
			for range 40 {
				id := hosts[choose.IntN(size)]
				l.crash(id)
				l.mu.Lock()
				l.loss = 0.3 * choose.Float64()
				for _, other := range hosts {
					l.parts[other] = choose.IntN(2)
				}
				l.mu.Unlock()
				if choose.IntN(3) > 0 {
					l.start(id, hosts...)
				}
				time.Sleep(time.Duration(choose.IntN(4000)) * time.Millisecond)
			}
			l.mu.Lock()
			l.loss, l.parts = 0, map[string]int{}
			l.mu.Unlock()
			for _, id := range hosts {
				l.crash(id)
				l.start(id, hosts...)
			}
			time.Sleep(10 * time.Second)
			f := l.foundersNow()
			if len(f) != 1 {
				t.Errorf("seed %d: %d of %d servers with bootstrap_expect %d founded a cluster: %v", seed, len(f), size, expect, f)
			}
			for _, members := range f {
				if 2*len(members) <= size {
					t.Errorf("seed %d: a cluster of %d of %d servers", seed, len(members), size)
				}
			}
			for _, id := range hosts {
				if err := l.crash(id); err != nil {
					t.Errorf("seed %d: server %s: %v", seed, id, err)
				}
			}
		})
	}
}

func TestMistakesAreNamed(t *testing.T) {
	server := func(id string) Server { return Server{ID: id, Instance: id + "-1", Name: id, Address: id, Expect: 3} }
	self := server("a")
	for _, k := range []struct {
		what  string
		found round
		hosts int
		wait  string
		err   string
	}{
		{"a server does not answer", round{self: true, servers: map[string]Server{"b": server("b")}, silent: []string{"10.0.0.3:4646: connection refused"}}, 3, "found 2 of 3 servers; 10.0.0.3:4646: connection refused", ""},
		{"another number", round{self: true, servers: map[string]Server{"b": func() Server { s := server("b"); s.Expect = 5; return s }()}}, 3, "server b at b has bootstrap_expect = 5, and this server 3: set the same number on all servers", ""},
		{"two machines with one certificate", round{self: true, servers: map[string]Server{"10.0.0.2:4646": func() Server { s := server("a"); s.Instance = "other"; return s }()}}, 3, "", `have one identity, "a": give each machine a certificate with its own common name`},
		{"too many servers", round{self: true, servers: map[string]Server{}}, 6, "", "set bootstrap_expect to at least 4"},
		{"too many servers besides this one", round{servers: map[string]Server{}}, 5, "server_join names 6 servers, of which two groups of bootstrap_expect = 3 could each found a cluster: set bootstrap_expect to at least 4", ""},
		{"another candidate", round{self: true, servers: map[string]Server{"0": server("0"), "b": server("b")}}, 3, "server 0 at 0 founds the cluster", ""},
	} {
		a, err := Open(filepath.Join(t.TempDir(), "promise"), self)
		if err != nil {
			t.Fatal(err)
		}
		members, wait, err := a.assess(k.found, k.hosts)
		if members != nil || wait != k.wait || (err == nil) != (k.err == "") || err != nil && !strings.Contains(err.Error(), k.err) {
			t.Errorf("%s: members %v, wait %q, error %v", k.what, members, wait, err)
		}
	}
}

// TestHostileRequestsGetNoPromise sends what a server must not promise.
func TestHostileRequestsGetNoPromise(t *testing.T) {
	self := Server{ID: "b", Instance: "1", Expect: 3}
	for what, k := range map[string]struct {
		from    string
		members []string
	}{
		"a set without this server":     {"a", []string{"a", "c", "d"}},
		"a candidate that is too large": {"c", []string{"a", "b", "c"}},
		"a set that is too small":       {"a", []string{"a", "b"}},
		"no candidate":                  {"", []string{"", "b", "c"}},
	} {
		a, err := Open(filepath.Join(t.TempDir(), "promise"), self)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := a.Answer(k.from, Request{Members: k.members}); err != nil || s.Promised != "" {
			t.Errorf("%s: promised to %q, %v", what, s.Promised, err)
		}
	}
}
