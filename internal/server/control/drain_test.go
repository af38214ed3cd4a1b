// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// drainWorld is a world whose nodes are drained.
type drainWorld struct {
	*world
	c   control.Controller
	now time.Time
}

func newDrainWorld(t *testing.T, nodes ...string) *drainWorld {
	t.Helper()
	w := &drainWorld{world: newWorld(t), c: control.NewDrain(), now: t0}
	for _, id := range nodes {
		w.apply(&state.RegisterNode{Node: &api.Node{ID: id, Name: id, Status: api.NodeStatusReady}})
	}
	return w
}

// run registers a job with one group, g, whose instances run on the nodes, one
// each, and are healthy.
func (w *drainWorld) run(id, kind string, maxParallel int, nodes ...string) {
	w.Helper()
	count, minimum := len(nodes), 10*time.Second
	w.apply(&state.RegisterJob{Job: &api.Job{
		ID: id, Namespace: "default", Type: kind, SubmitTime: t0.UnixNano(),
		Groups: []*api.Group{{Name: "g", Count: &count, Migrate: &api.Migrate{MaxParallel: &maxParallel, MinHealthyTime: &minimum}}},
	}})
	for i, node := range nodes {
		w.put(id, i, fmt.Sprintf("%s-%d", id, i), node, "")
		w.is(fmt.Sprintf("%s-%d", id, i), "healthy")
	}
}

// put places an instance; it takes over from previous.
func (w *drainWorld) put(job string, index int, id, node, previous string) {
	w.Helper()
	j := w.store.Snapshot().Job("default", job)
	p := &state.Placement{Job: j, Time: w.now.UnixNano(), Place: []*api.Allocation{{
		ID: id, Namespace: "default", JobID: job, Job: j, Group: "g", NodeID: node, NodeName: node,
		Name: api.AllocName(job, "g", index), PreviousAllocation: previous,
	}}}
	if previous != "" {
		p.Stop = []state.Stop{{ID: previous}}
	}
	w.apply(&state.CommitPlacement{Placement: p})
}

// is reports how an allocation is: a client status, or "healthy", "unhealthy".
func (w *drainWorld) is(id, how string) {
	w.Helper()
	a := &api.Allocation{ID: id, ClientStatus: how}
	if how == "healthy" || how == "unhealthy" {
		healthy := how == "healthy"
		a.ClientStatus, a.DeploymentStatus = api.AllocClientRunning, &api.AllocDeploymentStatus{Healthy: &healthy, Timestamp: w.now}
	}
	w.apply(&state.UpdateAllocations{Time: w.now.UnixNano(), Allocations: []*api.Allocation{a}})
}

func (w *drainWorld) drain(node string, deadline time.Duration, ignoreSystem bool) {
	w.Helper()
	d := &api.DrainStrategy{DrainSpec: api.DrainSpec{Deadline: deadline, IgnoreSystemJobs: ignoreSystem}, StartedAt: w.now}
	if deadline != 0 {
		d.ForceDeadline = w.now.Add(max(deadline, 0))
	}
	w.apply(&state.SetNodeDrain{NodeID: node, Strategy: d, Time: w.now.UnixNano()})
}

// act lets the controller act a second later, and tells what it did:
// allocations that move, and nodes that are drained. Looking again must change
// nothing.
func (w *drainWorld) act() string {
	w.Helper()
	did := w.once()
	if again := w.once(); again != "" {
		w.Errorf("looking again at what nobody changed does something: %s", again)
	}
	return did
}

func (w *drainWorld) once() string {
	w.Helper()
	w.now = w.now.Add(time.Second)
	w.c.All(w.store.Snapshot())
	cmds, _ := w.c.Act(w.store.Snapshot(), "drains", w.now)
	w.apply(cmds...)
	var did []string
	for _, cmd := range cmds {
		switch c := cmd.(type) {
		case *state.SetTransition:
			if len(c.Evaluations) != 1 || c.Evaluations[0].TriggeredBy != api.TriggerNodeDrain {
				w.Errorf("moving %v comes with evaluations %v, want one for the drain", c.AllocationIDs, c.Evaluations)
			}
			ids := slices.Sorted(slices.Values(c.AllocationIDs))
			did = append(did, "move "+strings.Join(ids, " "))
		case *state.SetNodeDrain:
			did = append(did, c.Status+" "+c.NodeID)
		}
	}
	return strings.Join(did, ", ")
}

// waits tells what the allocations left on a node wait for.
func (w *drainWorld) waits(node string) (lines []string) {
	snap := w.store.Snapshot()
	for _, a := range control.DrainStatus(snap, snap.Node(node), w.now).Allocations {
		lines = append(lines, a.ID+" "+a.State+": "+a.Description)
	}
	return lines
}

func (w *drainWorld) expect(what, want string) {
	w.Helper()
	if got := w.act(); got != want {
		w.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func (w *drainWorld) expectWaits(node string, want ...string) {
	w.Helper()
	if diff := cmp.Diff(want, w.waits(node)); diff != "" {
		w.Errorf("on %s (-want +got):\n%s", node, diff)
	}
}

func TestDrainMovesServicesAtTheirPace(t *testing.T) {
	w := newDrainWorld(t, "a", "b")
	w.run("web", api.JobTypeService, 1, "a", "a", "a")
	w.drain("a", time.Hour, false)
	w.expect("the drain begins", "move web-0")
	w.expectWaits("a",
		"web-0 moving: is being placed elsewhere",
		"web-1 waiting: max_parallel is 1: waits for web-0 (web.g[0]), which is being placed elsewhere",
		"web-2 waiting: max_parallel is 1: waits for web-0 (web.g[0]), which is being placed elsewhere")
	w.put("web", 0, "new-0", "b", "web-0")
	w.expect("the replacement is placed", "")
	w.expectWaits("a",
		"web-0 stopping: its node has not reported its end yet",
		"web-1 waiting: max_parallel is 1: waits for new-0 (web.g[0]), which is pending",
		"web-2 waiting: max_parallel is 1: waits for new-0 (web.g[0]), which is pending")
	w.is("web-0", api.AllocClientComplete)
	w.is("new-0", api.AllocClientRunning)
	w.expect("the replacement runs", "")
	w.is("new-0", "unhealthy")
	w.expect("the replacement is unhealthy", "")
	w.expectWaits("a",
		"web-1 waiting: max_parallel is 1: waits for new-0 (web.g[0]), which is unhealthy",
		"web-2 waiting: max_parallel is 1: waits for new-0 (web.g[0]), which is unhealthy")
	w.is("new-0", "healthy")
	w.expect("the replacement is healthy", "move web-1")
}

func TestNodesThatAreDrainedTogetherShareMaxParallel(t *testing.T) {
	w := newDrainWorld(t, "a", "b", "c")
	w.run("web", api.JobTypeService, 2, "a", "a", "b", "b", "c")
	w.drain("a", time.Hour, false)
	w.drain("b", time.Hour, false)
	w.expect("both drains begin", "move web-0 web-1")
	w.put("web", 0, "new-0", "c", "web-0")
	w.is("new-0", "healthy")
	w.expect("one replacement is healthy", "move web-2")
}

func TestWhatDoesNotServeMovesAtOnce(t *testing.T) {
	w := newDrainWorld(t, "a")
	w.run("web", api.JobTypeService, 1, "a", "a", "a")
	w.is("web-1", "unhealthy")
	w.is("web-2", api.AllocClientPending)
	w.drain("a", time.Hour, false)
	w.expect("the drain begins", "move web-1 web-2")
}

func TestBatchJobsRunOnUntilTheDeadline(t *testing.T) {
	w := newDrainWorld(t, "a")
	w.run("work", api.JobTypeBatch, 1, "a", "a")
	w.drain("a", time.Minute, false)
	w.expect("the drain begins", "")
	w.expectWaits("a",
		"work-0 waiting: runs on until it ends, at most until the deadline",
		"work-1 waiting: runs on until it ends, at most until the deadline")
	w.is("work-0", api.AllocClientComplete)
	w.now = w.now.Add(time.Minute)
	w.expect("the deadline is over", "move work-1")
}

func TestSystemJobsLeaveLast(t *testing.T) {
	w := newDrainWorld(t, "a")
	w.run("logs", api.JobTypeSystem, 1, "a")
	w.run("web", api.JobTypeService, 1, "a")
	w.drain("a", 0, false)
	w.expect("the drain begins", "move web-0")
	w.put("web", 0, "new-0", "b", "web-0")
	w.expect("the service is stopping", "")
	w.expectWaits("a",
		"logs-0 waiting: system jobs leave last: 1 other allocation is still here",
		"web-0 stopping: its node has not reported its end yet")
	w.is("web-0", api.AllocClientComplete)
	w.expect("the service has ended", "move logs-0")
	w.is("logs-0", api.AllocClientComplete)
	w.expect("all has ended", "complete a")
}

func TestSystemJobsMayStay(t *testing.T) {
	w := newDrainWorld(t, "a")
	w.run("logs", api.JobTypeSystem, 1, "a")
	w.run("web", api.JobTypeService, 1, "a")
	w.drain("a", 0, true)
	w.expect("the drain begins", "move web-0")
	w.is("web-0", api.AllocClientComplete)
	snap := w.store.Snapshot()
	if got := control.DrainStatus(snap, snap.Node("a"), w.now); got.Ignored != 1 || len(got.Allocations) != 0 || got.Gone != 1 {
		t.Errorf("status: %+v, want one ignored and one gone", got)
	}
	w.expect("the service has ended", "complete a")
}

func TestAtTheDeadlineEverythingIsStopped(t *testing.T) {
	w := newDrainWorld(t, "a")
	w.run("logs", api.JobTypeSystem, 1, "a")
	w.run("web", api.JobTypeService, 1, "a", "a", "a")
	w.run("work", api.JobTypeBatch, 1, "a")
	w.drain("a", time.Minute, false)
	w.expect("the drain begins", "move web-0")
	w.now = w.now.Add(time.Minute)
	w.expect("the deadline is over", "move logs-0, move web-0 web-1 web-2, move work-0")
}

func TestForceIsADeadlineAtOnce(t *testing.T) {
	w := newDrainWorld(t, "a")
	w.run("web", api.JobTypeService, 1, "a", "a")
	w.drain("a", -1, false)
	w.expect("the drain begins", "move web-0 web-1")
}

func TestDrainOfAnEmptyNodeIsComplete(t *testing.T) {
	w := newDrainWorld(t, "a")
	w.drain("a", time.Hour, false)
	w.expect("the drain begins", "complete a")
	w.expect("later", "")
}

func TestDrainGoesOnWhereTheLastLeaderStopped(t *testing.T) {
	w := newDrainWorld(t, "a", "b")
	w.run("web", api.JobTypeService, 1, "a", "a")
	w.drain("a", time.Hour, false)
	w.expect("the drain begins", "move web-0")
	w.c = control.NewDrain()
	w.expect("a new leader", "")
	w.put("web", 0, "new-0", "b", "web-0")
	w.is("new-0", "healthy")
	w.c = control.NewDrain()
	w.expect("another one", "move web-1")
}

func TestDrainOfADeadNodeWaitsForNobody(t *testing.T) {
	w := newDrainWorld(t, "a")
	w.run("web", api.JobTypeService, 1, "a", "a")
	w.apply(&state.UpdateNodeStatus{NodeID: "a", Status: api.NodeStatusDown, Time: w.now.UnixNano()})
	w.drain("a", time.Hour, false)
	w.expect("the drain begins", "")
	w.is("web-0", api.AllocClientLost)
	w.is("web-1", api.AllocClientLost)
	w.expect("all is lost", "complete a")
}

func TestReplacementThatNobodyJudgesCountsAfterItsTime(t *testing.T) {
	w := newDrainWorld(t, "a", "b")
	w.run("web", api.JobTypeService, 1, "a", "a")
	w.drain("a", time.Hour, false)
	w.expect("the drain begins", "move web-0")
	w.put("web", 0, "new-0", "b", "web-0")
	w.is("web-0", api.AllocClientComplete)
	w.is("new-0", api.AllocClientRunning)
	w.expect("it runs", "")
	_, wake := w.c.Act(w.store.Snapshot(), "drains", w.now.Add(time.Second))
	if left := wake.Sub(w.now); left <= 5*time.Minute || left > 6*time.Minute {
		t.Errorf("the drain looks again after %s, want healthy_deadline and min_healthy_time", left)
	}
	w.now = wake
	w.expect("its time is over", "move web-1")
}
