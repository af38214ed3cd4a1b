// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// estate is a fleet whose first node runs a router and a name server.
type estate struct {
	*fleet
	router, names string
}

func newEstate(t *testing.T, nodes int) *estate {
	t.Helper()
	e := &estate{fleet: newFleet(t, 0), router: freeAddress(t), names: freeAddress(t)}
	routes := fmt.Sprintf("router {\n  enabled = true\n  http = %q\n}\ndns {\n  enabled = true\n  address = %q\n}\n", e.router, e.names)
	for i := range nodes {
		n, config := unstarted(t), portsOfNode(i)
		if i == 0 {
			config += routes
		}
		n.Args = []string{"-client", "-node", fmt.Sprintf("node-%d", i), "-servers", "http://" + e.server.Addr, "-config", n.configured(config)}
		n.start()
		e.nodes = append(e.nodes, n)
		e.status(n, api.NodeStatusReady)
	}
	return e
}

// jobs are 50 tasks: most answer behind a route, some only run, and some are
// those that nobody will remember.
func (e *estate) jobs() []*api.Job {
	answers := func(id string, count int) *api.Job {
		j := testbed.Job(id, "raw_exec", count, map[string]any{"command": reeve, "args": []string{"example-web"}})
		g := j.Groups[0]
		g.Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}}}}
		g.Routes = []*api.Route{{Host: id + ".test", Port: "http"}}
		g.Services = []*api.Service{{Name: id, PortLabel: "http", Provider: "nomad", Checks: []*api.Check{{
			Name: "ready", Type: "http", Kind: api.CheckKindReadiness, Path: "/healthz", Interval: time.Second, Timeout: 5 * time.Second,
		}}}}
		return j
	}
	return []*api.Job{answers("web", 30), testbed.ShellJob("cart", 15, "exec sleep 86409"), answers("left", 5)}
}

// pids are the processes of tasks on all nodes.
func (e *estate) pids() (all []int) {
	for _, n := range e.nodes {
		all = append(all, n.servers()...)
		all = append(all, n.pidsOf("sleep", "86409")...)
	}
	slices.Sort(all)
	return all
}

func (e *estate) lookUp(name string) (int, error) {
	q := new(dns.Msg)
	q.SetQuestion(name+".default.svc.reeve.", dns.TypeSRV)
	q.SetEdns0(65_000, false)
	m, _, err := (&dns.Client{Timeout: 10 * time.Second, UDPSize: 65_000}).Exchange(q, e.names)
	if err != nil {
		return 0, err
	}
	return len(m.Answer), nil
}

// settled waits until the three ways to a job's instances know n of them.
func (e *estate) settled(job string, n int) {
	e.t.Helper()
	e.server.eventually(fmt.Sprintf("%d instances of %s in list, DNS and router", n, job), func(ctx context.Context) error {
		list, _, err := e.server.Client.Services().Get(ctx, job, nil)
		if err != nil {
			return err
		}
		named, err := e.lookUp(job)
		if err != nil {
			return err
		}
		routed := 0
		s, err := e.nodes[0].Client.Status().Router(ctx)
		if err != nil {
			return err
		}
		for _, r := range s.Routes {
			if r.Host == job+".test" {
				routed = len(r.Instances)
			}
		}
		if len(list) != n || named != n || routed != n {
			return fmt.Errorf("list %d, DNS %d, router %d", len(list), named, routed)
		}
		return nil
	})
}

// guest asks for a job all the time, and notes whatever is not as it should be.
type guest struct {
	asked atomic.Int64
	mu    sync.Mutex
	wrong []string
	stop  func()
}

func (e *estate) guest(job string, n int) *guest {
	g := &guest{}
	note := func(err error) {
		if err != nil {
			g.mu.Lock()
			g.wrong = append(g.wrong, time.Now().Format("15:04:05.000 ")+err.Error())
			g.mu.Unlock()
		}
		g.asked.Add(1)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	again := func(ask func() error) {
		wg.Go(func() {
			for ctx.Err() == nil {
				note(ask())
				wait.Pass(ctx, 5*time.Millisecond)
			}
		})
	}
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	again(func() error { return askFor(client, e.router, job+".test") })
	again(func() error {
		have, err := e.lookUp(job)
		if err == nil && have != n {
			err = fmt.Errorf("DNS has %d", have)
		}
		return err
	})
	g.stop = sync.OnceFunc(func() {
		cancel()
		wg.Wait()
	})
	e.t.Cleanup(g.stop)
	return g
}

// fine fails the test if the guest found anything wrong.
func (g *guest) fine(t *testing.T, when string) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.wrong) > 0 {
		t.Fatalf("%s: %d of %d questions went wrong, the first and the last: %s; %s", when, len(g.wrong), g.asked.Load(), g.wrong[0], g.wrong[len(g.wrong)-1])
	}
}

// loses ends the server at once, deletes all that it knows, and starts another.
func (e *estate) loses() {
	e.t.Helper()
	e.server.Kill()
	if err := os.RemoveAll(filepath.Join(e.server.Dir, "server")); err != nil {
		e.t.Fatal(err)
	}
	e.begins()
}

// dies ends the server at once, and starts another on what it knew.
func (e *estate) dies() {
	e.t.Helper()
	e.server.Kill()
	e.begins()
}

func (e *estate) begins() {
	e.t.Helper()
	e.server.start()
	e.server.answers()
}

// answers waits until the server takes jobs.
func (m *machine) answers() {
	m.t.Helper()
	m.eventually("the server takes jobs", func(ctx context.Context) error {
		_, _, err := m.Client.Domains().Get(ctx, "", nil)
		return err
	})
}

func (e *estate) orphans(n int) {
	e.t.Helper()
	e.server.eventually(fmt.Sprintf("%d orphans", n), func(ctx context.Context) error {
		list, _, err := e.server.Client.Domains().Orphans(ctx, nil)
		if err == nil && len(list) != n {
			err = fmt.Errorf("there are %d", len(list))
		}
		return err
	})
}

// TestTotalLossIsNotSeenByGuests has a server and three nodes with 50 tasks. The
// server loses all that it knows, twice, and is killed in between. Whoever asks
// for a service by the router or by its name does not notice.
func TestTotalLossIsNotSeenByGuests(t *testing.T) {
	e := newEstate(t, 3)
	for _, j := range e.jobs() {
		e.server.register(j)
		e.server.allocations(j.ID, "runs", running(*j.Groups[0].Count))
	}
	e.settled("web", 30)
	e.settled("left", 5)
	var before []int
	e.server.eventually("50 tasks run", func(context.Context) error { // their shells have become what they say
		if before = e.pids(); len(before) != 50 {
			return fmt.Errorf("%d do", len(before))
		}
		return nil
	})
	same := func(when string) {
		t.Helper()
		if now := e.pids(); !slices.Equal(now, before) {
			t.Fatalf("%s: processes are %v, and were %v", when, now, before)
		}
	}
	web, left := e.guest("web", 30), e.guest("left", 5)
	for i := range 2 {
		e.loses()
		if i == 0 { // and dies again while it hears of what runs
			e.server.eventually("an orphan is adopted", func(ctx context.Context) error {
				list, _, err := e.server.Client.Domains().Orphans(ctx, nil)
				if err == nil && len(list) == 0 {
					err = errors.New("none is")
				}
				return err
			})
			e.dies()
		}
		e.orphans(50)
		same("after the loss")
		e.settled("web", 30)
		e.settled("left", 5)
		web.fine(t, "after the loss")
		left.fine(t, "after the loss")
	}
	jobs := e.jobs()
	e.server.register(jobs[0])
	e.dies() // while it is taken over
	for _, j := range jobs[:2] {
		e.server.register(j)
		e.server.allocations(j.ID, "runs as before", running(*j.Groups[0].Count))
	}
	e.orphans(5)
	same("after the jobs were registered")
	e.settled("web", 30)
	web.fine(t, "after the jobs were registered")
	left.stop()
	left.fine(t, "before its domain was fresh")

	if _, err := e.server.Client.Domains().Mark(t.Context(), "", &api.DomainRequest{}); err != nil {
		t.Fatal(err)
	}
	e.orphans(0)
	e.settled("left", 0)
	e.server.eventually("what nobody wants has ended", func(context.Context) error {
		if n := len(e.pids()); n != 45 {
			return fmt.Errorf("%d processes run", n)
		}
		return nil
	})
	for _, pid := range e.pids() {
		if !slices.Contains(before, pid) {
			t.Errorf("process %d is new", pid)
		}
	}
	e.settled("web", 30)
	web.stop()
	web.fine(t, "at the end")
	for _, j := range jobs[:2] {
		for _, a := range e.server.allocations(j.ID, "runs", running(*j.Groups[0].Count)) {
			if a.TaskStates["task"].Restarts != 0 {
				t.Errorf("%s was restarted", a.Name)
			}
		}
	}
	t.Logf("%d questions while the servers lost everything twice", web.asked.Load()+left.asked.Load())
}
