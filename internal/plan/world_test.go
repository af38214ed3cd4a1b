// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/state"
)

// epoch is when every test's world begins.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// A tester is what worlds need of *testing.T and *rapid.T.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// A world is a store, its fleet, and a clock, with nobody in it but the test:
// the test plays user, node agents and time; the world evaluates.
type world struct {
	t        tester
	store    *state.Store
	feed     *state.Subscription
	fleet    *placement.Fleet
	now      time.Time
	ids      int
	job      string // the one that commands are about
	waitsFor string // the reason of the last evaluation for a held job
}

func newWorld(t tester) *world {
	w := &world{t: t, store: state.New(), now: epoch}
	w.feed = w.store.Subscribe()
	w.fleet = placement.NewFleet(w.store.Snapshot())
	return w
}

func (w *world) id(kind string) string {
	w.ids++
	return fmt.Sprintf("%08d-%s", w.ids, kind)
}

// apply commits commands and tells the fleet.
func (w *world) apply(commands ...state.Command) {
	w.t.Helper()
	for i, err := range w.store.Apply(w.store.Index()+1, commands) {
		if err != nil {
			w.t.Fatalf("%s: %v", commands[i].Name(), err)
		}
	}
	for w.fleet.Index() < w.store.Index() {
		batch, err := w.feed.Next(context.Background())
		if err != nil {
			w.t.Fatalf("change feed: %v", err)
		}
		for _, c := range batch.Changes {
			w.fleet.Change(c.Old, c.New)
		}
		w.fleet.SetIndex(batch.Index)
	}
}

func (w *world) snapshot() *state.Snapshot { return w.store.Snapshot() }

func (w *world) newest() *api.Job { return w.snapshot().Job(api.DefaultNamespace, w.job) }

func (w *world) key() api.NamespacedID {
	return api.NamespacedID{Namespace: api.DefaultNamespace, ID: w.job}
}

// evaluation is a fresh one for the job.
func (w *world) evaluation() *api.Evaluation {
	return &api.Evaluation{
		ID: w.id("eval"), Namespace: api.DefaultNamespace, JobID: w.job, Type: api.JobTypeService,
		Priority: 50, TriggeredBy: api.TriggerJobRegister, Status: api.EvalStatusPending, CreateTime: w.now.UnixNano(),
	}
}

// compute is what an evaluation comes to, without committing it.
func (w *world) compute(eval *api.Evaluation) (*plan.Result, *placement.Outcome) {
	r := plan.Reconcile(w.snapshot(), w.newest(), eval, w.now)
	job := w.newest()
	o := placement.Place(w.fleet.View(), &placement.Order{
		EvalID: eval.ID, Namespace: eval.Namespace, JobID: eval.JobID, AllAtOnce: job != nil && job.AllAtOnce,
		Requests: r.Start, Kept: r.Kept, Policy: w.policy(), Now: w.now.UnixNano(), NewID: func() string { return w.id("alloc") },
	})
	return r, o
}

// evaluate computes an evaluation and commits it.
func (w *world) evaluate(eval *api.Evaluation) (*plan.Result, *placement.Outcome) {
	w.t.Helper()
	r, o := w.compute(eval)
	w.waitsFor = r.Held
	if refused := placement.Check(w.fleet.View(), slices.Concat(o.Place, r.Update), w.snapshot().Allocation); len(refused) > 0 {
		w.t.Fatalf("the applier would refuse %+v", refused)
	}
	p := &state.Placement{
		EvalID: eval.ID, SnapshotIndex: w.snapshot().Index(), Job: w.newest(),
		Place: slices.Concat(o.Place, r.Update), Deployment: r.Deployment,
		Restart: r.Restart, Deregister: r.Deregister, Evaluations: slices.Clone(r.FollowUps), Time: w.now.UnixNano(),
	}
	for _, s := range slices.Concat(r.Stop, o.Stop) {
		p.Stop = append(p.Stop, state.Stop{ID: s.Alloc.ID, Reason: s.Reason, Description: s.Description, ClientStatus: s.ClientStatus})
	}
	for _, v := range o.Preempt {
		p.Preempt = append(p.Preempt, state.Preemption{ID: v.Alloc.ID, By: v.By.ID})
	}
	for _, u := range r.DeploymentUpdates {
		p.DeploymentUpdates = append(p.DeploymentUpdates, state.DeploymentUpdate(u))
	}
	if stored := w.snapshot().Evaluation(eval.ID); stored != nil {
		done := stored.Copy()
		done.Status = api.EvalStatusComplete
		p.Evaluations = append(p.Evaluations, done)
	}
	p.Evaluations = append(p.Evaluations, w.blocked(o)...)
	w.apply(&state.CommitPlacement{Placement: p})
	return r, o
}

// blocked is what becomes of the job's evaluation that waits for room.
func (w *world) blocked(o *placement.Outcome) []*api.Evaluation {
	e := w.snapshot().BlockedEvaluation(api.DefaultNamespace, w.job)
	switch {
	case e == nil && o.IsWhole():
		return nil
	case e == nil:
		e = w.evaluation()
		e.TriggeredBy = api.TriggerQueuedAllocs
	default:
		e = e.Copy()
	}
	e.Status, e.SnapshotIndex, e.ModifyTime = api.EvalStatusBlocked, w.snapshot().Index(), w.now.UnixNano()
	if e.QueuedAllocations, e.FailedGroups = maps.Clone(o.Queued), o.Failed; o.IsWhole() {
		e.Status, e.QueuedAllocations = api.EvalStatusComplete, map[string]int{}
	}
	return []*api.Evaluation{e}
}

// allocations are the job's, oldest first.
func (w *world) allocations() []*api.Allocation {
	all := slices.Collect(w.snapshot().AllocationsByJob(api.DefaultNamespace, w.job))
	slices.SortFunc(all, func(a, b *api.Allocation) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// report has the node say something of an allocation.
func (w *world) report(a *api.Allocation, change func(*api.Allocation)) {
	w.t.Helper()
	u := &api.Allocation{ID: a.ID, ClientStatus: a.ClientStatus}
	change(u)
	w.apply(&state.UpdateAllocations{NodeID: a.NodeID, Allocations: []*api.Allocation{u}, Time: w.now.UnixNano()})
}

// addNode registers a node, or changes it.
func (w *world) addNode(name string, cpu, memory int64, datacenter string, meta map[string]string) {
	w.t.Helper()
	n := newNode(name)
	n.Datacenter, n.Meta = datacenter, meta
	n.Resources.CPU.CPUShares, n.Resources.Memory.MemoryMB = cpu, memory
	w.putNode(n)
}

// newNode is a node of 1,000 MHz and 1,000 MB in dc1.
func newNode(name string) *api.Node {
	return &api.Node{
		ID: name, Name: name, Datacenter: "dc1", NodePool: "default", Status: api.NodeStatusReady,
		SchedulingEligibility: api.NodeEligible,
		Attributes:            map[string]string{"kernel.name": "linux"},
		Drivers:               map[string]*api.DriverStatus{"mock": {Detected: true, Healthy: true}},
		Resources: &api.NodeResources{
			CPU: api.NodeCPU{CPUShares: 1000}, Memory: api.NodeMemory{MemoryMB: 1000}, Disk: api.NodeDisk{DiskMB: 100000},
			Networks: []*api.Network{{IP: "10.0.0.1"}},
		},
	}
}

// plans are the job's, with everything.
func (w *world) plans() []*api.Plan {
	v := view.Derive(w.snapshot(), w.key(), w.newest(), w.now)
	defer v.Release()
	return v.All()
}
