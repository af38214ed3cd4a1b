// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// routedFleet is a fleet whose server has a router, and the history of what that
// could lead to.
type routedFleet struct {
	*fleet
	*watched

	mu      sync.Mutex
	updates []*api.CatalogUpdate
}

func newRoutedFleet(t *testing.T, nodes int) *routedFleet {
	t.Helper()
	f := &routedFleet{fleet: newFleetWith(t, nodes, fmt.Sprintf("router {\n  enabled = true\n  http    = %q\n}\n", freeAddress(t)))}
	f.watched = &watched{machine: f.server, entries: map[string]*api.CatalogEntry{}, changed: make(chan struct{})}
	f.follow()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- f.server.Client.Catalog().Stream(ctx, func(u *api.CatalogUpdate) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.updates = append(f.updates, u)
			return nil
		})
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return f
}

// change is the update of the catalog that took an allocation out of it.
func (f *routedFleet) change(id string) *api.CatalogUpdate {
	f.watched.t.Helper()
	var found *api.CatalogUpdate
	f.server.eventually(id+" leaves the catalog", func(context.Context) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		i := slices.IndexFunc(f.updates, func(u *api.CatalogUpdate) bool { return slices.Contains(u.Removed, id) })
		if i < 0 {
			return fmt.Errorf("after %d updates it is in it", len(f.updates))
		}
		found = f.updates[i]
		return nil
	})
	return found
}

// isRouted reports whether the catalog has an allocation.
func (f *routedFleet) isRouted(id string) bool {
	f.watched.mu.Lock()
	defer f.watched.mu.Unlock()
	return f.entries[id] != nil
}

// die ends everything that is on the node.
func (m *machine) die() {
	m.Kill()
	for pids := m.Processes(); len(pids) > 0; pids = m.Processes() {
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func (m *machine) signal(s syscall.Signal) {
	m.t.Helper()
	if err := syscall.Kill(m.PID(), s); err != nil {
		m.t.Fatal(err)
	}
}

// gated is a routed service whose processes serve while a file is there when they
// begin; it is up when it serves.
func gated(count int, gate string) *api.Job {
	job := routedJob(reeve, "1")
	g := job.Groups[0]
	g.Count = &count
	g.ShutdownDelay = nil
	g.Tasks[0].Config = map[string]any{"command": "/bin/sh", "args": []string{"-c", "until [ -e '" + gate + "' ]; do sleep 0.05; done; exec '" + reeve + "' example-web"}}
	g.Services[0].Checks[0].Kind = api.CheckKindLiveness
	return job
}

// openGate makes a gate that is open.
func openGate(t *testing.T) string {
	t.Helper()
	gate := filepath.Join(t.TempDir(), "gate")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return gate
}

// place is the node of the only instance, and its allocation.
func (f *routedFleet) place(job string) (*machine, *api.AllocationListStub) {
	f.watched.t.Helper()
	f.inStream(1)
	a := f.server.allocations(job, "1 runs", running(1))[0]
	for _, n := range f.nodes {
		if f.name(n) == a.NodeName {
			return n, a
		}
	}
	f.watched.t.Fatalf("%s is on %s, which is no node of the test", a.ID, a.NodeName)
	return nil, nil
}

// replacement waits until there is an allocation in another one's place.
func (f *routedFleet) replacement(job, of string) *api.AllocationListStub {
	f.watched.t.Helper()
	var found *api.AllocationListStub
	f.server.allocations(job, "a replacement is started", func(list []*api.AllocationListStub) bool {
		for _, a := range list {
			if a.ID != of && a.DesiredStatus == api.AllocDesiredRun && a.ClientStatus == api.AllocClientRunning {
				found = a
			}
		}
		return found != nil
	})
	return found
}

func (f *routedFleet) allocation(id string) *api.Allocation {
	f.watched.t.Helper()
	a, _, err := f.server.Client.Allocations().Get(f.watched.t.Context(), id, nil)
	if err != nil {
		f.watched.t.Fatal(err)
	}
	return a
}

// A node that is killed with all that it runs keeps its traffic until something
// else is up in its place: who follows the catalog sees the one go and the other
// come as one change.
func TestKilledNodeKeepsItsTrafficUntilItsReplacementIsUp(t *testing.T) {
	f := newRoutedFleet(t, 2)
	gate := openGate(t)
	f.server.register(gated(1, gate))
	victim, was := f.place("web")
	if err := os.Remove(gate); err != nil { // what is started now is not up
		t.Fatal(err)
	}
	victim.die()
	f.status(victim, api.NodeStatusDown)
	next := f.replacement("web", was.ID)
	a := f.allocation(was.ID)
	if a.ClientStatus != api.AllocClientUnknown || a.DesiredStatus != api.AllocDesiredRun || !f.isRouted(was.ID) || f.isRouted(next.ID) {
		t.Errorf("while its replacement is not up, what was on the killed node is %s/%s; in the catalog: %t, its replacement: %t",
			a.DesiredStatus, a.ClientStatus, f.isRouted(was.ID), f.isRouted(next.ID))
	}
	shown := f.reeve("instance", "list", "web")
	if !strings.Contains(shown, "suspect") {
		t.Errorf("no instance is shown as suspect:\n%s", shown)
	}
	t.Logf("while the replacement starts:\n%s", shown)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	change := f.change(was.ID)
	if !slices.ContainsFunc(change.Entries, func(e *api.CatalogEntry) bool { return e.AllocID == next.ID }) {
		t.Errorf("the killed node's traffic ended with %+v, which does not bring the replacement %s", change, next.ID)
	}
	f.server.allocations("web", "what was on the killed node is given up", func(list []*api.AllocationListStub) bool {
		return slices.ContainsFunc(list, func(a *api.AllocationListStub) bool {
			return a.ID == was.ID && a.ClientStatus == api.AllocClientLost && a.DesiredStatus == api.AllocDesiredStop
		})
	})
	t.Logf("afterwards:\n%s", f.reeve("instance", "list", "web"))
	victim.start()
	f.status(victim, api.NodeStatusReady)
	if len(f.server.allocations("web", "1 runs", running(1))) != 2 || len(victim.servers()) != 0 {
		t.Errorf("after the node's return %d processes serve there", len(victim.servers()))
	}
}

// An agent that stands still for longer than its TTL and goes on before what was
// started in its place is up has its instance again: the same process, which has
// had the traffic all the time.
func TestPausedAgentThatIsBackFirstKeepsItsInstance(t *testing.T) {
	f := newRoutedFleet(t, 2)
	gate := openGate(t)
	f.server.register(gated(1, gate))
	victim, was := f.place("web")
	before := victim.servers()
	if err := os.Remove(gate); err != nil {
		t.Fatal(err)
	}
	victim.signal(syscall.SIGSTOP)
	f.status(victim, api.NodeStatusDown)
	next := f.replacement("web", was.ID)
	victim.signal(syscall.SIGCONT)
	f.status(victim, api.NodeStatusReady)
	f.server.allocations("web", "the replacement is stopped", func(list []*api.AllocationListStub) bool {
		return running(1)(list) && slices.ContainsFunc(list, func(a *api.AllocationListStub) bool {
			return a.ID == next.ID && a.DesiredStatus == api.AllocDesiredStop && a.ClientStatus == api.AllocClientComplete
		})
	})
	after := f.allocation(was.ID)
	if after.ClientStatus != api.AllocClientRunning || after.DesiredStatus != api.AllocDesiredRun || !slices.Equal(victim.servers(), before) {
		t.Errorf("what was there is %s/%s, its processes are %v, and were %v", after.DesiredStatus, after.ClientStatus, victim.servers(), before)
	}
	for name, s := range after.TaskStates {
		if s.Restarts != 0 {
			t.Errorf("task %s was restarted %d times", name, s.Restarts)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, u := range f.updates {
		if slices.Contains(u.Removed, was.ID) {
			t.Errorf("it was out of the catalog: %+v", u)
		}
		if slices.ContainsFunc(u.Entries, func(e *api.CatalogEntry) bool { return e.AllocID == next.ID }) {
			t.Errorf("its replacement was in the catalog: %+v", u)
		}
	}
}

// An agent that goes on when its instance runs elsewhere stops it, and is heard
// of again.
func TestPausedAgentThatIsBackLaterStopsWhatRunsElsewhere(t *testing.T) {
	t.Parallel()
	f := newRoutedFleet(t, 2)
	f.server.register(gated(1, openGate(t)))
	victim, was := f.place("web")
	victim.signal(syscall.SIGSTOP)
	f.status(victim, api.NodeStatusDown)
	f.change(was.ID)
	if n := len(victim.servers()); n != 1 {
		t.Errorf("%d processes serve on the node that stands still, want the one", n)
	}
	victim.signal(syscall.SIGCONT)
	f.status(victim, api.NodeStatusReady)
	f.server.eventually("what runs elsewhere is stopped on the node that is back", func(context.Context) error {
		if n := len(victim.servers()); n > 0 {
			return fmt.Errorf("%d processes serve there", n)
		}
		return nil
	})
	list := f.server.allocations("web", "1 runs", running(1))
	if len(list) != 2 || f.allocation(was.ID).DesiredStatus != api.AllocDesiredStop {
		t.Errorf("there are %d allocations, want the one and its replacement", len(list))
	}
	if len(f.nodes[0].servers())+len(f.nodes[1].servers()) != 1 {
		t.Error("there is not exactly one process that serves")
	}
	heard := time.Now()
	f.server.eventually("the node is heard of for longer than it may be silent", func(ctx context.Context) error {
		n, err := f.find(ctx, victim)
		if err == nil && n.Status != api.NodeStatusReady {
			t.Fatalf("the node that is back was given up again: %s", n.StatusDescription)
		}
		if d := time.Since(heard); d < 4*time.Second {
			return fmt.Errorf("for %s", d)
		}
		return err
	})
}

// The node of one of three instances is killed under load: requests that may be
// repeated are answered by the others, none is lost.
func TestKilledNodeUnderLoadLosesNoRequest(t *testing.T) {
	f := newRoutedFleet(t, 3)
	job := routedJob(reeve, "1")
	job.Groups[0].Spreads = []*api.Spread{{Attribute: "${node.unique.name}", Weight: ptr(int8(100))}}
	f.server.register(job)
	f.inStream(3)
	f.server.eventually("the router leads to three", func(ctx context.Context) error { return f.server.routed(ctx, 3) })
	list := f.server.allocations("web", "3 run", running(3))
	victim := f.nodes[0]
	if on(list, "node-0") != 1 {
		t.Fatalf("%d instances are on node-0, want one of three", on(list, "node-0"))
	}
	var was string
	for _, a := range list {
		if a.NodeName == "node-0" {
			was = a.ID
		}
	}
	h := f.server.hammer(8)
	answered := func(more int64, when string) {
		t.Helper()
		before := h.sent.Load()
		f.server.eventually("requests are answered "+when, func(context.Context) error {
			if n := h.sent.Load() - before; n < more {
				return fmt.Errorf("%d requests", n)
			}
			return nil
		})
	}
	answered(500, "before")
	at := time.Now()
	victim.die()
	f.change(was)
	replaced := time.Since(at)
	f.inStream(3)
	answered(500, "afterwards")
	h.stop()
	t.Logf("%d requests; the killed node's instance was replaced after %s", h.sent.Load(), replaced)
	if h.lost.Load() > 0 {
		t.Errorf("%d of %d requests were lost, the first one: %s", h.lost.Load(), h.sent.Load(), h.first)
	}
}
