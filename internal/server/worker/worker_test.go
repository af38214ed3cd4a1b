// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package worker_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/applier"
	"github.com/reeve-run/reeve/internal/server/broker"
	"github.com/reeve-run/reeve/internal/server/fleet"
	"github.com/reeve-run/reeve/internal/server/worker"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// rig is one worker whose applier may see other nodes than it does.
type rig struct {
	*testing.T
	store *state.Store // what the worker sees
	other *state.Store // the nodes that the applier checks against
}

func run(t *testing.T, f func(r *rig)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		r := &rig{T: t, store: state.New(), other: state.New()}
		logger := slog.New(slog.DiscardHandler)
		seen, checked := fleet.New(), fleet.New()
		queue := worker.Local{}
		queue.Broker = broker.New(broker.Config{Logger: logger, Write: func(_ context.Context, evals []*api.Evaluation) error {
			r.apply(&state.PutEvaluations{Evaluations: evals})
			return nil
		}})
		queue.Applier = applier.New(applier.Env{
			Store: r.store, Fleet: checked, Logger: logger,
			Propose: func(_ context.Context, cmds ...state.Command) (uint64, []error, error) {
				index, errs := r.apply(cmds...)
				return index, errs, nil
			},
		})
		env := worker.Env{Store: r.store, Fleet: seen, Logger: logger, Queue: queue}
		r.other.Apply(1000, nil) // as new as the worker's, whatever happens
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = seen.Run(ctx, r.store) })
		wg.Go(func() { _ = checked.Run(ctx, r.other) })
		wg.Go(func() { _ = queue.Broker.Run(ctx, r.store) })
		wg.Go(func() { queue.Applier.Run(ctx) })
		wg.Go(func() { worker.Run(ctx, env) })
		f(r)
		cancel()
		wg.Wait()
	})
}

func (r *rig) apply(cmds ...state.Command) (uint64, []error) {
	index := r.store.Index() + 1
	return index, r.store.Apply(index, cmds)
}

// confirm lets the applier know of the node, too.
func (r *rig) confirm() {
	r.other.Apply(1001, []state.Command{r.node()})
	synctest.Wait()
}

func (r *rig) node() *state.RegisterNode {
	n := &api.Node{
		ID: "n", Name: "n", Datacenter: "dc1", NodePool: "default",
		Status: api.NodeStatusReady, SchedulingEligibility: api.NodeEligible,
		Attributes: map[string]string{"driver.mock_driver": "1"},
		Drivers:    map[string]*api.DriverStatus{"mock_driver": {Detected: true, Healthy: true}},
		Resources: &api.NodeResources{
			CPU: api.NodeCPU{CPUShares: 1000}, Memory: api.NodeMemory{MemoryMB: 1000}, Disk: api.NodeDisk{DiskMB: 10000},
		},
	}
	n.ComputedClass = api.ComputeClass(n)
	return &state.RegisterNode{Node: n}
}

// register registers a job of one instance and returns its evaluation's id.
func (r *rig) register(change ...func(*api.Job)) string {
	job := &api.Job{
		ID: "web", Type: api.JobTypeBatch, Datacenters: []string{"*"},
		Groups: []*api.Group{{Name: "g", Tasks: []*api.Task{{Name: "t", Driver: "mock_driver"}}}},
	}
	job.Canonicalize()
	for _, f := range change {
		f(job)
	}
	eval := &api.Evaluation{
		ID: api.NewID(), Namespace: job.Namespace, JobID: job.ID, Type: job.Type, Priority: 50,
		TriggeredBy: api.TriggerJobRegister, Status: api.EvalStatusPending,
	}
	if _, errs := r.apply(&state.RegisterJob{Job: job, Evaluation: eval}); errs != nil && errs[0] != nil {
		r.Fatal(errs[0])
	}
	synctest.Wait()
	return eval.ID
}

func (r *rig) allocations() (n int) {
	for range r.store.Snapshot().AllocationsByJob("default", "web") {
		n++
	}
	return n
}

func TestPlacesAndEndsTheEvaluation(t *testing.T) {
	run(t, func(r *rig) {
		r.apply(r.node())
		r.confirm()
		id := r.register()
		e := r.store.Snapshot().Evaluation(id)
		if e.Status != api.EvalStatusComplete || r.allocations() != 1 || e.BlockedEval != "" {
			r.Errorf("evaluation is %s with %d allocations and blocked evaluation %q; want it complete with one", e.Status, r.allocations(), e.BlockedEval)
		}
		if e.SnapshotIndex == 0 || e.QueuedAllocations["g"] != 0 {
			r.Errorf("evaluation says snapshot %d, queued %v", e.SnapshotIndex, e.QueuedAllocations)
		}
	})
}

// A job that makes the scheduler panic, as one may that was stored before jobs
// were checked, fails its own evaluation and says why.
func TestAPanicFailsOneEvaluationWithItsReason(t *testing.T) {
	run(t, func(r *rig) {
		r.apply(r.node())
		r.confirm()
		bad := r.register(func(j *api.Job) { j.ID, j.Groups[0].Tasks = "bad", []*api.Task{nil} })
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		e := r.store.Snapshot().Evaluation(bad)
		if e.Status != api.EvalStatusFailed || !strings.Contains(e.StatusDescription, "panic: runtime error") || strings.Contains(e.StatusDescription, "goroutine") || e.NextEval == "" {
			r.Errorf("evaluation is %s: %q; want it failed with the panic, to be tried again", e.Status, e.StatusDescription)
		}
		good := r.register()
		if e := r.store.Snapshot().Evaluation(good); e.Status != api.EvalStatusComplete {
			r.Errorf("the next job's evaluation is %s, want complete", e.Status)
		}
	})
}

func TestRefusedAgainAndAgainIsSetAside(t *testing.T) {
	run(t, func(r *rig) {
		r.apply(r.node()) // the applier does not know of it
		id := r.register()
		e := r.store.Snapshot().Evaluation(id)
		if e.Status != api.EvalStatusComplete || e.QueuedAllocations["g"] != 1 || r.allocations() != 0 {
			r.Fatalf("evaluation is %s, queued %v, %d allocations; want it complete with 1 queued", e.Status, e.QueuedAllocations, r.allocations())
		}
		b := r.store.Snapshot().Evaluation(e.BlockedEval)
		if b == nil || b.Status != api.EvalStatusBlocked || b.TriggeredBy != api.TriggerMaxPlacementAttempts {
			r.Fatalf("blocked evaluation: %+v, want one triggered by %s", b, api.TriggerMaxPlacementAttempts)
		}
		r.confirm()
		time.Sleep(time.Minute)
		synctest.Wait()
		if b := r.store.Snapshot().Evaluation(e.BlockedEval); b.Status != api.EvalStatusComplete || r.allocations() != 1 {
			r.Errorf("later the blocked evaluation is %s with %d allocations, want it complete with one", b.Status, r.allocations())
		}
	})
}

func TestWokenInVainWritesNothing(t *testing.T) {
	run(t, func(r *rig) {
		id := r.register()
		blocked := r.store.Snapshot().Evaluation(id).BlockedEval
		if blocked == "" {
			r.Fatal("nothing is blocked although there is no node")
		}
		small := r.node()
		small.Node.Resources.CPU.CPUShares = 1
		r.apply(small)
		synctest.Wait() // looked at, and blocked for its class from now on
		before := r.store.Index()
		r.apply(small)
		synctest.Wait()
		if now := r.store.Index(); now != before+1 {
			r.Errorf("the state moved from %d to %d, want only the node's change", before, now)
		}
		r.confirm()
		r.apply(r.node())
		synctest.Wait()
		if e := r.store.Snapshot().Evaluation(blocked); e.Status != api.EvalStatusComplete || r.allocations() != 1 {
			r.Errorf("with room the evaluation is %s with %d allocations, want it complete with one", e.Status, r.allocations())
		}
	})
}
