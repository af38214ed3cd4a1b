// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	nomad "github.com/hashicorp/nomad/api"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// movable is a service of real processes whose replacements are healthy after a
// moment.
func movable(id string, count int) *api.Job {
	job := testbed.ShellJob(id, count, "exec sleep 600")
	job.Groups[0].Migrate = &api.Migrate{MaxParallel: ptr(1), MinHealthyTime: ptr(200 * time.Millisecond), HealthCheck: ptr(api.HealthCheckTaskStates)}
	return job
}

func TestDrainMovesRealTasksToAnotherNode(t *testing.T) {
	f := newFleet(t, 2)
	f.server.register(movable("web", 3))
	f.server.allocations("web", "3 run", running(3))
	from := f.nodes[0]
	if list := f.server.allocations("web", "3 run", running(3)); on(list, "node-0") < 2 {
		from = f.nodes[1] // the second one waits for the first one's replacement
	}
	out := f.reeve("node", "drain", "-enable", "-yes", "-m", "new kernel", f.name(from))
	for _, words := range []string{"drains with a deadline of 1h", "replaced by", "healthy", "is drained: all its allocations stopped"} {
		if !strings.Contains(out, words) {
			t.Errorf("the drain did not say %q:\n%s", words, out)
		}
	}
	list := f.server.allocations("web", "3 run", running(3))
	if n := on(list, f.name(from)); n != 0 {
		t.Errorf("after the drain %d instances run on the node", n)
	}
	if n := sleepers(from); n > 0 {
		t.Errorf("the drain is complete and %d processes still run", n)
	}
	node := f.status(from, api.NodeStatusReady)
	if node.LastDrain == nil || node.LastDrain.Status != api.DrainStatusComplete || node.LastDrain.Meta["message"] != "new kernel" || node.SchedulingEligibility != api.NodeIneligible {
		t.Errorf("after the drain the node is %s, its last drain %+v", node.SchedulingEligibility, node.LastDrain)
	}
	t.Logf("the drain said:\n%s", out)
}

func TestDrainStopsWhatIsLeftAtTheDeadline(t *testing.T) {
	f := newFleet(t, 1)
	batch := testbed.ShellJob("work", 1, "exec sleep 600")
	batch.Type, batch.Groups[0].Update = api.JobTypeBatch, nil
	f.server.register(batch)
	f.server.register(movable("web", 1))
	f.server.allocations("work", "1 runs", running(1))
	f.server.allocations("web", "1 runs", running(1))
	f.reeve("node", "drain", "-enable", "-yes", "-detach", "-deadline", "3s", "node-0")
	// There is no other node: both stay until the deadline, and are stopped then.
	f.server.eventually("the drain says what waits for what", func(context.Context) error {
		shown := f.reeve("node", "status", "node-0")
		for _, words := range []string{"2 allocations", "runs on until it ends, at most until the deadline", "no other node can take it"} {
			if !strings.Contains(shown, words) {
				return fmt.Errorf("it does not say %q:\n%s", words, shown)
			}
		}
		return nil
	})
	f.server.eventually("the drain is complete", func(ctx context.Context) error {
		n, err := f.find(ctx, f.nodes[0])
		if err == nil && (n.LastDrain == nil || n.LastDrain.Status != api.DrainStatusComplete) {
			err = fmt.Errorf("last drain: %+v", n.LastDrain)
		}
		return err
	})
	n, err := f.find(t.Context(), f.nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	if took := n.LastDrain.UpdatedAt.Sub(n.LastDrain.StartedAt); took < 3*time.Second {
		t.Errorf("the drain took %s: it did not wait for its deadline", took)
	}
	f.reeve("node", "eligibility", "-enable", "node-0")
	f.server.allocations("web", "runs again", running(1))
}

func TestForcedDrainStopsEverythingAtOnce(t *testing.T) {
	f := newFleet(t, 1)
	f.server.register(movable("web", 3))
	f.server.allocations("web", "3 run", running(3))
	out := f.reeve("node", "drain", "-enable", "-yes", "-force", "node-0")
	if !strings.Contains(out, "is drained") {
		t.Errorf("the drain said:\n%s", out)
	}
}

// TestForeignClientDrainsANode has Nomad's client drain a node and watch. Its
// monitor tells what differs between two looks, so the other node takes nothing
// whenever the monitor has to look before the drain goes on.
func TestForeignClientDrainsANode(t *testing.T) {
	f := newFleet(t, 2)
	looks := &looksAt{path: "/allocations", first: make(chan struct{})}
	c, err := nomad.NewClient(&nomad.Config{Address: "http://" + f.server.Addr, HttpClient: &http.Client{Transport: looks}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	id, other := f.status(f.nodes[0], api.NodeStatusReady).ID, f.status(f.nodes[1], api.NodeStatusReady).ID
	otherTakes := func(anything bool) {
		t.Helper()
		if _, err := c.Nodes().ToggleEligibility(other, anything, nil); err != nil {
			t.Fatal(err)
		}
	}

	otherTakes(false)
	job := movable("web", 2)
	job.Groups[0].Migrate.MinHealthyTime = ptr(3 * time.Second)
	f.server.register(job)
	list := f.server.allocations("web", "2 run", running(2))
	resp, err := c.Nodes().UpdateDrain(id, &nomad.DrainSpec{Deadline: time.Minute}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, second := list[0].ID, list[1].ID
	f.server.eventually("one is to move, and cannot", func(ctx context.Context) error {
		for _, stub := range list {
			a, _, err := f.server.Client.Allocations().Get(ctx, stub.ID, nil)
			if err != nil {
				return err
			}
			if a.DesiredTransition.ShouldMigrate() {
				if a.ID == second {
					first, second = second, first
				}
				return nil
			}
		}
		return errors.New("neither is")
	})

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	messages := c.Nodes().MonitorDrain(ctx, id, resp.NodeModifyIndex, false)
	select {
	case <-looks.first:
	case <-ctx.Done():
		t.Fatal("the monitor does not look at the allocations")
	}
	otherTakes(true)
	f.server.allocations("web", "the first has moved", func(l []*api.AllocationListStub) bool { return on(l, "node-1") == 1 })
	otherTakes(false) // the second moves when the first one's replacement has run for some seconds
	marked := fmt.Sprintf("Alloc %q marked for migration", second)
	var said []string
	for m := range messages {
		said = append(said, m.String())
		if m.String() == marked {
			otherTakes(true)
		}
	}
	all := strings.Join(said, "\n")
	for _, words := range []string{
		"Drain complete for node", "have stopped", marked,
		fmt.Sprintf("Alloc %q status running -> complete", first), fmt.Sprintf("Alloc %q status running -> complete", second),
	} {
		if !strings.Contains(all, words) {
			t.Errorf("the monitor did not say %q:\n%s", words, all)
		}
	}
	node, _, err := c.Nodes().Info(id, nil)
	if err != nil {
		t.Fatal(err)
	}
	if node.LastDrain == nil || node.LastDrain.Status != "complete" || node.SchedulingEligibility != "ineligible" {
		t.Errorf("the node is %s, its last drain %+v", node.SchedulingEligibility, node.LastDrain)
	}
	if _, err := c.Nodes().ToggleEligibility(id, true, nil); err != nil {
		t.Error(err)
	}
	if _, _, err := c.Nodes().ForceEvaluate(id, nil); err != nil {
		t.Error(err)
	}
	if _, _, err := c.Nodes().Purge(id, nil); err != nil {
		t.Error(err)
	}
}

// looksAt tells when the first answer about a path is there.
type looksAt struct {
	path  string // how it ends
	once  sync.Once
	first chan struct{}
}

// RoundTrip implements http.RoundTripper.
func (l *looksAt) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err == nil && strings.HasSuffix(req.URL.Path, l.path) {
		l.once.Do(func() { close(l.first) })
	}
	return resp, err
}

func TestKilledNodeIsReplaced(t *testing.T) {
	f := newFleet(t, 2)
	f.server.register(movable("web", 2))
	list := f.server.allocations("web", "2 run", running(2))
	victim := f.nodes[0]
	if on(list, "node-0") == 0 {
		victim = f.nodes[1]
	}
	held := on(list, f.name(victim))
	at := time.Now()
	victim.Kill()
	f.status(victim, api.NodeStatusDown)
	noticed := time.Since(at)
	f.server.allocations("web", "2 run elsewhere", func(l []*api.AllocationListStub) bool { return running(2)(l) && on(l, f.name(victim)) == 0 })
	t.Logf("a killed node with %d instances: down after %s, all run elsewhere after %s (heartbeats every 2s, 1s of grace)", held, noticed, time.Since(at))
	victim.start()
	f.status(victim, api.NodeStatusReady)
	f.server.eventually("the returned node has stopped what runs elsewhere now", func(context.Context) error {
		if n := sleepers(victim); n > 0 {
			return fmt.Errorf("%d processes run", n)
		}
		return nil
	})
}

func TestPausedNodeIsReplacedAndReturns(t *testing.T) {
	f := newFleet(t, 2)
	f.server.register(movable("web", 2))
	list := f.server.allocations("web", "2 run", running(2))
	victim := f.nodes[0]
	if on(list, "node-0") == 0 {
		victim = f.nodes[1]
	}
	if err := syscall.Kill(victim.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	f.status(victim, api.NodeStatusDown)
	f.server.allocations("web", "2 run elsewhere", func(l []*api.AllocationListStub) bool { return running(2)(l) && on(l, f.name(victim)) == 0 })
	if err := syscall.Kill(victim.PID(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	f.status(victim, api.NodeStatusReady)
	f.server.eventually("nothing runs twice", func(ctx context.Context) error {
		if n := sleepers(f.nodes[0]) + sleepers(f.nodes[1]); n != 2 {
			return fmt.Errorf("%d processes run", n)
		}
		return nil
	})
}

// sleepers counts the machine's tasks that sleep.
func sleepers(m *machine) int { return len(sleepingOn(m)) }

// sleepingOn lists them.
func sleepingOn(m *machine) (pids []int) {
	for _, pid := range m.Processes() {
		if argv := testbed.CommandLine(pid); len(argv) > 0 && strings.HasSuffix(argv[0], "sleep") {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

func TestPausedServerGivesNobodyUp(t *testing.T) {
	f := newFleet(t, 1)
	f.server.register(movable("web", 1))
	before := f.server.allocations("web", "1 runs", running(1))[0].ID
	if err := syscall.Kill(f.server.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	paused := time.Now()
	f.eventually("the server stood still for far longer than a node may be silent", func() error {
		if d := time.Since(paused); d < 5*time.Second {
			return fmt.Errorf("it stands still since %s", d)
		}
		return nil
	})
	if err := syscall.Kill(f.server.PID(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	f.server.register(movable("later", 1))
	f.server.allocations("later", "1 runs", running(1))
	node := f.status(f.nodes[0], api.NodeStatusReady)
	full, _, err := f.server.Client.Nodes().Get(t.Context(), node.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range full.Events {
		if strings.Contains(e.Message, "down") {
			t.Errorf("a paused server gave its node up: %s", e.Message)
		}
	}
	if after := f.server.allocations("web", "1 runs", running(1))[0].ID; after != before {
		t.Error("a paused server had its node's allocation replaced")
	}
}

// TestDisconnectedNodeKeepsWhatMayWait pauses an agent whose job gives it time:
// the instance is neither replaced nor stopped.
func TestDisconnectedNodeKeepsWhatMayWait(t *testing.T) {
	f := newFleet(t, 2)
	job := movable("web", 1)
	job.Groups[0].Disconnect = &api.Disconnect{LostAfter: ptr(10 * time.Minute), Replace: ptr(false)}
	f.server.register(job)
	before := f.server.allocations("web", "1 runs", running(1))[0]
	victim := f.nodes[0]
	if before.NodeName == "node-1" {
		victim = f.nodes[1]
	}
	if err := syscall.Kill(victim.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	f.status(victim, api.NodeStatusDisconnected)
	f.server.allocations("web", "it is unknown", func(l []*api.AllocationListStub) bool {
		return len(l) == 1 && l[0].ClientStatus == api.AllocClientUnknown
	})
	if err := syscall.Kill(victim.PID(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	f.status(victim, api.NodeStatusReady)
	after := f.server.allocations("web", "it runs again", running(1))
	if len(after) != 1 || after[0].ID != before.ID || sleepers(victim) != 1 {
		t.Errorf("after the node came back %d allocations are known and %d processes run there; want the one that was", len(after), sleepers(victim))
	}
}
