// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

var t0 = time.Unix(1_800_000_000, 0)

func after(d time.Duration) time.Time { return t0.Add(d) }

// world is a store that the test fills.
type world struct {
	*testing.T
	store *state.Store
}

func newWorld(t *testing.T) *world { return &world{t, state.New()} }

func (w *world) apply(cmds ...state.Command) {
	w.Helper()
	for i, err := range w.store.Apply(w.store.Index()+1, cmds) {
		if err != nil {
			w.Fatalf("%s: %v", cmds[i].Name(), err)
		}
	}
}

func (w *world) job(id, kind string) *api.Job {
	w.apply(&state.RegisterJob{Job: &api.Job{
		ID: id, Namespace: "default", Type: kind, SubmitTime: t0.UnixNano(),
		Groups: []*api.Group{{Name: "g"}},
	}})
	return w.store.Snapshot().Job("default", id)
}

// place makes an evaluation and an allocation of it that was placed at t0.
func (w *world) place(job *api.Job, evalID, id string) {
	w.Helper()
	w.apply(&state.CommitPlacement{Placement: &state.Placement{
		EvalID: evalID, Job: job, Time: t0.UnixNano(),
		Place: []*api.Allocation{{
			ID: id, Namespace: job.Namespace, JobID: job.ID, Job: job, Group: "g", NodeID: "n", EvalID: evalID,
			Name: api.AllocName(job.ID, "g", 0),
		}},
		Evaluations: []*api.Evaluation{w.eval(job, evalID)},
	}})
}

func (w *world) eval(job *api.Job, id string) *api.Evaluation {
	return &api.Evaluation{
		ID: id, Namespace: job.Namespace, JobID: job.ID, Type: job.Type, Status: api.EvalStatusComplete,
		ModifyTime: t0.UnixNano(),
	}
}

func (w *world) report(id, status string) {
	w.Helper()
	w.apply(&state.UpdateAllocations{Time: t0.UnixNano(), Allocations: []*api.Allocation{{ID: id, ClientStatus: status}}})
}

// stop stops an allocation that the job no longer needs.
func (w *world) stop(job *api.Job, id string) {
	w.Helper()
	w.stopFor(job, id, api.ReasonScaledDown)
}

func (w *world) stopFor(job *api.Job, id string, reason api.Reason) {
	w.Helper()
	w.apply(&state.CommitPlacement{Placement: &state.Placement{Job: job, Time: t0.UnixNano(), Stop: []state.Stop{{ID: id, Reason: reason}}}})
}

func (w *world) deregister(id string, purge bool) {
	w.Helper()
	w.apply(&state.DeregisterJob{Namespace: "default", ID: id, Time: t0.UnixNano(), Purge: purge})
}

func (w *world) wantCollected(at time.Time, want state.Collect) {
	w.Helper()
	cmd := w.sweep(at, control.DefaultThresholds)
	for _, ids := range [][]string{cmd.Evaluations, cmd.Allocations, cmd.Deployments, cmd.Nodes} {
		slices.Sort(ids)
	}
	if diff := cmp.Diff(&want, cmd); diff != "" {
		w.Fatalf("collected %s after (-want +got):\n%s", at.Sub(t0), diff)
	}
}

// sweep collects over all tables, and returns all that went.
func (w *world) sweep(now time.Time, t control.Thresholds) *state.Collect {
	w.Helper()
	all := &state.Collect{}
	var pos control.Position
	for swept := false; !swept; {
		var cmd *state.Collect
		if cmd, pos, swept = control.Collect(w.store.Snapshot(), now, t, pos); cmd == nil {
			continue
		}
		if n := len(cmd.Jobs) + len(cmd.Evaluations) + len(cmd.Allocations) + len(cmd.Deployments) + len(cmd.Nodes); n > 512 {
			w.Fatalf("%d objects in one command", n)
		}
		w.apply(cmd)
		all.Evaluations = append(all.Evaluations, cmd.Evaluations...)
		all.Allocations = append(all.Allocations, cmd.Allocations...)
		all.Deployments = append(all.Deployments, cmd.Deployments...)
		all.Jobs = append(all.Jobs, cmd.Jobs...)
		all.Nodes = append(all.Nodes, cmd.Nodes...)
		all.Restarts = append(all.Restarts, cmd.Restarts...)
	}
	return all
}

func TestCollectsAnEvaluationWithWhatItPlaced(t *testing.T) {
	w := newWorld(t)
	job := w.job("web", api.JobTypeService)
	w.place(job, "e1", "a1")
	w.place(job, "e2", "a2")
	w.stop(job, "a1")
	w.report("a1", api.AllocClientComplete)
	w.wantCollected(after(59*time.Minute), state.Collect{})
	w.wantCollected(after(time.Hour), state.Collect{Evaluations: []string{"e1"}, Allocations: []string{"a1"}})
}

func TestCollectsRestartsLongAfterTheirEnd(t *testing.T) {
	w := newWorld(t)
	job := w.job("web", api.JobTypeService)
	w.place(job, "e1", "a1")
	restart := func(id string) {
		w.apply(&state.PutRestart{Restart: &api.JobRestart{
			ID: id, Namespace: "default", JobID: "web", BatchSize: 1, Status: api.RestartRunning, JobCreateIndex: job.CreateIndex,
		}})
	}
	restart("r1")
	w.wantCollected(after(1000*time.Hour), state.Collect{})
	w.apply(&state.UpdateRestart{ID: "r1", Status: api.RestartCancelled, Time: t0.UnixNano()})
	restart("r2")
	w.wantCollected(after(4*time.Hour-time.Second), state.Collect{})
	w.wantCollected(after(4*time.Hour), state.Collect{Restarts: []string{"r1"}})
	w.apply(&state.UpdateRestart{ID: "r2", Status: api.RestartCancelled, Time: t0.UnixNano()})
	if got := w.sweep(t0, control.Thresholds{}).Restarts; len(got) != 1 || got[0] != "r2" {
		w.Errorf("an operator's collection took restarts %v, want r2", got)
	}
}

func TestKeepsWhatStillRuns(t *testing.T) {
	w := newWorld(t)
	job := w.job("web", api.JobTypeService)
	w.place(job, "e1", "a1")
	w.apply(&state.PutEvaluations{Evaluations: []*api.Evaluation{w.eval(job, "e2")}})
	w.report("a1", api.AllocClientRunning)
	w.wantCollected(after(1000*time.Hour), state.Collect{})
	w.stop(job, "a1") // told to, but it has not stopped yet
	w.wantCollected(after(1000*time.Hour), state.Collect{})
}

func TestKeepsTheLastAttemptOfAnInstance(t *testing.T) {
	for _, kind := range []string{api.JobTypeBatch, api.JobTypeService} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			job := w.job("j", kind)
			w.place(job, "e1", "a1")
			w.apply(&state.PutEvaluations{Evaluations: []*api.Evaluation{w.eval(job, "e2")}})
			if kind == api.JobTypeBatch {
				// Without it the work would be done a second time. A group beside
				// it still runs, so the job is not dead.
				w.report("a1", api.AllocClientComplete)
				w.place(job, "e3", "a3")
				w.wantCollected(after(25*time.Hour), state.Collect{Evaluations: []string{"e2"}})
				return
			}
			w.report("a1", api.AllocClientFailed)
			w.place(job, "e3", "a3")
			w.wantCollected(after(25*time.Hour), state.Collect{Evaluations: []string{"e2"}})
		})
	}
}

// Recovery fills the instance again, at the version of its last allocation, also in a group
// that is updated without a deployment.
func TestKeepsTheLastAllocationOfALostInstance(t *testing.T) {
	w := newWorld(t)
	job := w.job("web", api.JobTypeService)
	w.place(job, "e1", "a1")
	w.stopFor(job, "a1", api.ReasonNodeRemoved)
	w.report("a1", api.AllocClientLost)
	w.wantCollected(after(25*time.Hour), state.Collect{})
}

func TestCollectsADeadJobWithAllThatIsLeftOfIt(t *testing.T) {
	w := newWorld(t)
	job := w.job("web", api.JobTypeService)
	w.place(job, "e1", "a1")
	w.deregister("web", false)
	w.stop(job, "a1")
	w.wantCollected(after(4*time.Hour), state.Collect{})
	w.report("a1", api.AllocClientComplete)
	w.wantCollected(after(4*time.Hour), state.Collect{
		Evaluations: []string{"e1"}, Allocations: []string{"a1"}, Jobs: []api.NamespacedID{{Namespace: "default", ID: "web"}},
	})
}

func TestCollectsWhatAPurgedJobLeft(t *testing.T) {
	w := newWorld(t)
	job := w.job("web", api.JobTypeService)
	w.place(job, "e1", "a1")
	w.deregister("web", true)
	w.stop(job, "a1")
	w.report("a1", api.AllocClientComplete)
	w.wantCollected(after(time.Hour), state.Collect{Evaluations: []string{"e1"}, Allocations: []string{"a1"}})
}

func TestKeepsANodeWithAllocations(t *testing.T) {
	w := newWorld(t)
	w.apply(
		&state.RegisterNode{Node: &api.Node{ID: "n"}}, &state.RegisterNode{Node: &api.Node{ID: "empty"}},
		&state.RegisterNode{Node: &api.Node{ID: "alive", Status: api.NodeStatusReady}},
	)
	job := w.job("web", api.JobTypeService)
	w.place(job, "e1", "a1")
	for _, id := range []string{"n", "empty"} {
		w.apply(&state.UpdateNodeStatus{NodeID: id, Status: api.NodeStatusDown, Time: t0.UnixNano()})
	}
	w.wantCollected(after(23*time.Hour), state.Collect{})
	w.wantCollected(after(24*time.Hour), state.Collect{Nodes: []string{"empty"}})
}

func TestKeepsAJobsLatestDeployment(t *testing.T) {
	w := newWorld(t)
	job := w.job("web", api.JobTypeService)
	for _, id := range []string{"d1", "d2"} {
		w.apply(&state.CommitPlacement{Placement: &state.Placement{
			Job: job, Time: t0.UnixNano(),
			Deployment: &api.Deployment{ID: id, Namespace: "default", JobID: "web", Status: api.DeploymentFailed},
		}})
	}
	w.wantCollected(after(time.Hour), state.Collect{Deployments: []string{"d1"}})
	w.deregister("web", true)
	w.wantCollected(after(time.Hour), state.Collect{Deployments: []string{"d2"}})
}

func TestCollectsInBoundedBatches(t *testing.T) {
	w := newWorld(t)
	job := w.job("web", api.JobTypeService)
	evals := make([]*api.Evaluation, 10_000)
	for i := range evals {
		evals[i] = w.eval(job, api.NewID())
	}
	w.apply(&state.PutEvaluations{Evaluations: evals})
	batches := 0
	var at control.Position
	for swept := false; !swept; batches++ {
		var cmd *state.Collect
		if cmd, at, swept = control.Collect(w.store.Snapshot(), after(2*time.Hour), control.DefaultThresholds, at); cmd == nil {
			continue
		}
		if n := len(cmd.Evaluations); n > 512 {
			t.Fatalf("%d evaluations in one command", n)
		}
		w.apply(cmd)
	}
	left := 0
	for range w.store.Snapshot().Evaluations() {
		left++
	}
	if left != 1 || batches < 10 {
		t.Errorf("%d evaluations left after %d batches, want the newest after several", left, batches)
	}
}
