// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// renderedStore holds a job with instances on as many nodes.
func renderedStore(t *testing.T, count int) (*state.Store, []*api.Allocation) {
	t.Helper()
	store := state.New()
	job := &api.Job{ID: "web", Groups: []*api.Group{{Name: "g", Count: &count, Tasks: []*api.Task{{
		Name: "main", Driver: "mock", Templates: []*api.Template{{DestPath: "local/conf", EmbeddedTmpl: "x"}},
	}}}}}
	job.Canonicalize()
	applyTo(t, store, &state.RaiseLevel{Level: state.Level}, &state.RegisterJob{Job: job})
	p := &state.Placement{EvalID: "e", Job: store.Snapshot().Job("default", "web"), Time: 5}
	p.Evaluations = []*api.Evaluation{{ID: "e", Namespace: "default", JobID: "web", Type: api.JobTypeService, Status: api.EvalStatusComplete}}
	for i := range count {
		node := fmt.Sprintf("node-%d", i)
		applyTo(t, store, &state.RegisterNode{Node: &api.Node{ID: node, Status: api.NodeStatusReady}})
		p.Place = append(p.Place, &api.Allocation{ID: api.NewID(), Group: "g", EvalID: "e", NodeID: node, Name: api.AllocName("web", "g", i), ClientStatus: api.AllocClientRunning})
	}
	applyTo(t, store, &state.CommitPlacement{Placement: p})
	var all []*api.Allocation
	for a := range store.Snapshot().AllocationsByJob("default", "web") {
		all = append(all, a)
	}
	return store, all
}

func reportRendering(t *testing.T, store *state.Store, node string, a *api.Allocation, value string, at time.Time) {
	t.Helper()
	applyTo(t, store, &state.UpdateAllocations{NodeID: node, Time: at.UnixNano(), Allocations: []*api.Allocation{{
		ID: a.ID, ClientStatus: api.AllocClientRunning,
		TaskStates: map[string]*api.TaskState{"main": {State: api.TaskStateRunning, Templates: []*api.TemplateState{{Destination: "local/conf", Pending: value}}}},
	}}})
}

// TestABurstOfRenderingsMakesOneRestart lets 1,000 nodes report a newer rendering. One restart follows, after the reports
// have had time to arrive, and a cancelled one is not repeated, nor forgotten, for the same values.
func TestABurstOfRenderingsMakesOneRestart(t *testing.T) {
	store, all := renderedStore(t, 1000)
	c := control.NewRenderings()
	t0 := time.Unix(1000, 0)
	touched := map[string]int{}
	cursor := store.Snapshot()
	if keys := c.All(cursor); len(keys) != 0 {
		t.Fatalf("keys without a report: %q", keys)
	}
	for i, a := range all {
		reportRendering(t, store, a.NodeID, a, "v1", t0.Add(time.Duration(i)*time.Millisecond))
		c.Touched(&state.Change{Table: state.TableAllocations, New: store.Snapshot().Allocation(a.ID)}, func(key string) { touched[key]++ })
	}
	if len(touched) != 1 || len(c.All(store.Snapshot())) == 0 {
		t.Fatalf("touched: %v", touched)
	}
	key := c.All(store.Snapshot())[0]
	act := func(at time.Time) (*api.JobRestart, time.Time) {
		t.Helper()
		cmds, wake := c.Act(store.Snapshot(), key, at)
		if len(cmds) == 0 {
			return nil, wake
		}
		applyTo(t, store, cmds...)
		return store.Snapshot().LatestRestart("default", "web"), wake
	}
	if r, wake := act(t0.Add(999 * time.Millisecond)); r != nil || !wake.Equal(t0.Add(time.Second)) {
		t.Errorf("before the reports are gathered: %+v, wake %s", r, wake)
	}
	r, _ := act(t0.Add(time.Second))
	if r == nil || !r.Templates || !r.HealthGate || r.BatchSize != 1 {
		t.Fatalf("the restart is %+v", r)
	}
	if again, wake := act(t0.Add(time.Hour)); again != nil || !wake.IsZero() {
		t.Errorf("beside an active restart: %+v, %s", again, wake)
	}
	applyTo(t, store, &state.UpdateRestart{ID: r.ID, Status: api.RestartCancelled, Reason: api.ReasonRestartCancelled, Time: t0.Add(2 * time.Hour).UnixNano()})
	if again, wake := act(t0.Add(3 * time.Hour)); again != nil || !wake.IsZero() {
		t.Errorf("for values that an operator declined: %+v, %s", again, wake)
	}
	if s := store.Snapshot(); !s.IsDeclining(s.LatestRestart("default", "web")) {
		t.Error("the restart that declines may be collected")
	}
	reportRendering(t, store, all[7].NodeID, all[7], "v2", t0.Add(4*time.Hour))
	if again, _ := act(t0.Add(4*time.Hour + time.Second)); again == nil || again.ID == r.ID {
		t.Errorf("for other values: %+v", again)
	}
}

// TestRenderingsOfAStrangersAllocation reports for allocations of other nodes, and values that are too long.
func TestRenderingsOfAStrangersAllocation(t *testing.T) {
	store, all := renderedStore(t, 2)
	t0 := time.Unix(1000, 0)
	if errs := store.Apply(store.Index()+1, []state.Command{&state.UpdateAllocations{NodeID: all[0].NodeID, Time: t0.UnixNano(), Allocations: []*api.Allocation{{
		ID: all[1].ID, ClientStatus: api.AllocClientRunning,
		TaskStates: map[string]*api.TaskState{"main": {State: api.TaskStateRunning, Templates: []*api.TemplateState{{Destination: "local/conf", Pending: "v"}}}},
	}}}}); len(errs) != 1 {
		t.Fatal(errs)
	}
	reportRendering(t, store, all[0].NodeID, all[0], string(make([]byte, 1<<16)), t0)
	if keys := control.NewRenderings().All(store.Snapshot()); len(keys) != 0 {
		t.Errorf("keys: %q", keys)
	}
}

// TestRenderingsOfAFlood reports 100,000 newer renderings of one task, and of tasks that the group has not, as fast as a
// node can. They cost no more than those of one task with all templates that it may have.
func TestRenderingsOfAFlood(t *testing.T) {
	store, all := renderedStore(t, 2)
	t0 := time.Unix(1000, 0)
	flood := map[string]*api.TaskState{"main": {State: api.TaskStateRunning}}
	for i := range 100_000 {
		s := &api.TemplateState{Destination: fmt.Sprint("local/", i), Pending: fmt.Sprint("v", i)}
		flood["main"].Templates = append(flood["main"].Templates, s)
		if i < 1000 {
			flood[fmt.Sprint("stranger-", i)] = &api.TaskState{State: api.TaskStateRunning, Templates: []*api.TemplateState{s}}
		}
	}
	applyTo(t, store, &state.UpdateAllocations{NodeID: all[0].NodeID, Time: t0.UnixNano(), Allocations: []*api.Allocation{{
		ID: all[0].ID, ClientStatus: api.AllocClientRunning, TaskStates: flood}}})
	c := control.NewRenderings()
	key := c.All(store.Snapshot())[0]
	cmds, _ := c.Act(store.Snapshot(), key, t0.Add(time.Minute))
	if len(cmds) != 1 || len(cmds[0].(*state.PutRestart).Restart.Reason) > 300 {
		t.Fatalf("the restart is %+v", cmds)
	}
	if _, values := store.Snapshot().Allocation(all[0].ID).TaskStates["main"].PendingTemplates(); len(values) > 64 {
		t.Errorf("%d newer renderings of one task", len(values))
	}
	if allocs := testing.AllocsPerRun(10, func() { c.Act(store.Snapshot(), key, t0.Add(time.Minute)) }); allocs > 2000 {
		t.Errorf("each look makes %.0f allocations of memory", allocs)
	}
	applyTo(t, store, cmds...)
	restarts := 0
	for i := range 1000 { // other values every millisecond, while the restart runs
		reportRendering(t, store, all[0].NodeID, all[0], fmt.Sprint("w", i), t0.Add(time.Minute+time.Duration(i)*time.Millisecond))
		more, _ := c.Act(store.Snapshot(), key, t0.Add(time.Minute+time.Duration(i)*time.Millisecond))
		restarts += len(more)
	}
	applyTo(t, store, &state.UpdateRestart{ID: store.Snapshot().LatestRestart("default", "web").ID, Status: api.RestartComplete, Time: t0.Add(2 * time.Minute).UnixNano()})
	for at := t0.Add(2 * time.Minute); at.Before(t0.Add(3 * time.Minute)); at = at.Add(100 * time.Millisecond) {
		reportRendering(t, store, all[0].NodeID, all[0], fmt.Sprint("x", at.UnixNano()), at)
		more, _ := c.Act(store.Snapshot(), key, at.Add(50*time.Millisecond))
		for _, cmd := range more {
			restarts++
			applyTo(t, store, cmd, &state.UpdateRestart{ID: cmd.(*state.PutRestart).Restart.ID, Status: api.RestartComplete, Time: at.UnixNano()})
		}
	}
	if restarts > 6 {
		t.Errorf("%d restarts in a minute of new values; at most one in 10 seconds is due", restarts)
	}
}
