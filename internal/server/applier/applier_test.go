// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package applier_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/applier"
	"github.com/reeve-run/reeve/internal/server/fleet"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// rig is an applier whose log takes 10 ms per entry.
type rig struct {
	*testing.T
	store   *state.Store
	applier *applier.Applier
	fail    error // of the next log writes

	mu      sync.Mutex
	entries []int // commands per entry
}

const writeTime = 10 * time.Millisecond

// run calls f with a running applier and a node "n" that has room for 1,000 MHz.
func run(t *testing.T, f func(r *rig)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		r := &rig{T: t, store: state.New()}
		r.apply(&state.RegisterNode{Node: &api.Node{
			ID: "n", Status: api.NodeStatusReady, SchedulingEligibility: api.NodeEligible,
			Resources: &api.NodeResources{CPU: api.NodeCPU{CPUShares: 1000}},
		}})
		fl := fleet.New()
		r.applier = applier.New(applier.Env{
			Store: r.store, Fleet: fl, Logger: slog.New(slog.DiscardHandler), Propose: r.propose,
		})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = fl.Run(ctx, r.store) })
		wg.Go(func() { r.applier.Run(ctx) })
		f(r)
		cancel()
		wg.Wait()
	})
}

func (r *rig) apply(cmds ...state.Command) (uint64, []error) {
	index := r.store.Index() + 1
	return index, r.store.Apply(index, cmds)
}

func (r *rig) propose(_ context.Context, cmds ...state.Command) (uint64, []error, error) {
	time.Sleep(writeTime)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return 0, nil, r.fail
	}
	r.entries = append(r.entries, len(cmds))
	index, errs := r.apply(cmds...)
	return index, errs, nil
}

func (r *rig) job(id string) *api.Job {
	r.apply(&state.RegisterJob{Job: &api.Job{ID: id, Namespace: "default", Type: "service", Groups: []*api.Group{{Name: "g"}}}})
	return r.store.Snapshot().Job("default", id)
}

// placement places instances of a job that take cpu MHz each on node n.
func (r *rig) placement(job *api.Job, cpu int64, ids ...string) *applier.Submission {
	p := &state.Placement{Job: job, SnapshotIndex: r.store.Index(), EvalID: "eval-" + job.ID}
	for i, id := range ids {
		p.Place = append(p.Place, &api.Allocation{
			ID: id, Namespace: "default", JobID: job.ID, Job: job, Group: "g", Name: api.AllocName(job.ID, "g", i),
			NodeID: "n", EvalID: p.EvalID,
			AllocatedResources: &api.AllocatedResources{
				Tasks: map[string]*api.AllocatedTask{"t": {CPU: api.AllocatedCPU{CPUShares: cpu}}},
			},
		})
	}
	end := &api.Evaluation{ID: p.EvalID, Namespace: "default", JobID: job.ID, Status: api.EvalStatusComplete}
	return &applier.Submission{Job: job.Key(), Placement: p, Ends: []*api.Evaluation{end}}
}

// submit starts submitting; the function it returns waits for the result.
func (r *rig) submit(s *applier.Submission) func() *applier.Result {
	type answer struct {
		res *applier.Result
		err error
	}
	done := make(chan answer, 1)
	go func() {
		res, err := r.applier.Submit(r.Context(), s)
		done <- answer{res, err}
	}()
	return func() *applier.Result {
		r.Helper()
		a := <-done
		if a.err != nil {
			r.Fatalf("submit: %v", a.err)
		}
		return a.res
	}
}

func TestCommitsPlacementAndEndTogether(t *testing.T) {
	run(t, func(r *rig) {
		job := r.job("web")
		res := r.submit(r.placement(job, 100, "a1", "a2"))()
		if !res.Whole || res.Placed != 2 || len(r.entries) != 1 {
			r.Errorf("result %+v in %d entries, want all in one", res, len(r.entries))
		}
		snap := r.store.Snapshot()
		if snap.Allocation("a1").CreateIndex != snap.Evaluation("eval-web").ModifyIndex {
			r.Error("the evaluation's end is not in the placement's entry")
		}
	})
}

// TestEndsOnAStateThatWasDecidedOnAreRefused is about evaluations that found no
// room and are to wait for some, of a job that fails meanwhile.
func TestEndsOnAStateThatWasDecidedOnAreRefused(t *testing.T) {
	for name, inFlight := range map[string]bool{"before it is checked": false, "while it is written": true} {
		t.Run(name, func(t *testing.T) {
			run(t, func(r *rig) {
				job := r.job("late")
				s := r.placement(job, 100)
				s.Ends[0].Status = api.EvalStatusBlocked
				fail := &state.FailJob{Namespace: "default", ID: "late", JobModifyIndex: job.JobModifyIndex, Reason: "too late", Time: 1}
				var result func() *applier.Result
				if inFlight {
					result = r.submit(s)
					synctest.Wait()
					r.apply(fail)
				} else {
					r.apply(fail)
					result = r.submit(s)
				}
				res := result()
				if res.Whole || len(res.Refused) != 1 || res.Refresh < r.store.Snapshot().Job("default", "late").ModifyIndex {
					r.Errorf("the result is %+v, want a refusal and a newer state", res)
				}
				if e := r.store.Snapshot().Evaluation("eval-late"); e != nil {
					r.Errorf("evaluation %s is %s", e.ID, e.Status)
				}
				s = r.placement(job, 100)
				if res := r.submit(s)(); !res.Whole || r.store.Snapshot().Evaluation("eval-late") == nil {
					r.Errorf("worked out anew it is refused: %+v", res)
				}
			})
		})
	}
}

func TestPlacementInFlightTakesItsRoom(t *testing.T) {
	run(t, func(r *rig) {
		first, second := r.placement(r.job("a"), 600, "a1"), r.placement(r.job("b"), 600, "b1")
		one := r.submit(first)
		synctest.Wait() // it is being written
		two := r.submit(second)
		if res := one(); !res.Whole {
			r.Errorf("the first was refused: %+v", res)
		}
		res := two()
		if res.Whole || res.Placed != 0 || len(res.Refused) != 1 {
			r.Errorf("the second: %+v, want it refused for lack of room", res)
		}
		if r.store.Snapshot().Evaluation("eval-b") != nil {
			r.Error("an evaluation ended although its placement was refused")
		}
	})
}

func TestWhatFitsIsCommitted(t *testing.T) {
	run(t, func(r *rig) {
		job := r.job("web")
		r.submit(r.placement(job, 100, "old1", "old2"))()
		s := r.placement(job, 300, "new1", "new2", "new3")
		s.Placement.Place[2].PreviousAllocation = "old2"
		s.Placement.Stop = []state.Stop{{ID: "old1"}, {ID: "old2"}}
		res := r.submit(s)()
		if res.Whole || res.Placed != 2 || res.Refresh != res.Index {
			r.Errorf("result %+v, want 2 of 3 placed and a refresh to their entry", res)
		}
		snap := r.store.Snapshot()
		if snap.Allocation("new3") != nil {
			r.Error("what does not fit was placed")
		}
		if !snap.Allocation("old1").IsServerTerminal() {
			r.Error("old1 was not stopped")
		}
		if snap.Allocation("old2").IsServerTerminal() {
			r.Error("old2 was stopped although its successor was refused")
		}
	})
}

func TestAllAtOnceIsAllOrNothing(t *testing.T) {
	run(t, func(r *rig) {
		s := r.placement(r.job("web"), 600, "a1", "a2")
		s.Placement.AllAtOnce = true
		res := r.submit(s)()
		if res.Whole || res.Placed != 0 || r.store.Snapshot().Allocation("a1") != nil {
			r.Errorf("result %+v, want nothing placed", res)
		}
	})
}

func TestOldSnapshotOfTheJobIsRefused(t *testing.T) {
	run(t, func(r *rig) {
		job := r.job("web")
		first, late := r.placement(job, 1, "a1"), r.placement(job, 1, "b1")
		concurrent := r.placement(job, 1, "c1")
		one := r.submit(first)
		synctest.Wait()
		if res := r.submit(concurrent)(); res.Whole || res.Placed != 0 {
			r.Errorf("a placement beside one of the same job in flight: %+v, want it refused", res)
		}
		one()
		if res := r.submit(late)(); res.Whole || res.Placed != 0 {
			r.Errorf("a placement that had not seen the last one: %+v, want it refused", res)
		}
		if res := r.submit(r.placement(job, 1, "d1"))(); !res.Whole {
			r.Errorf("a placement on the new state: %+v, want it accepted", res)
		}
	})
}

func TestPlacementFromBeforeADecisionIsRefused(t *testing.T) {
	run(t, func(r *rig) {
		job := r.job("web")
		decide := func(id, after string) {
			_, errs := r.apply(&state.Decide{After: after, Decision: &api.Decision{
				ID: id, Namespace: "default", JobID: "web", JobCreateIndex: job.CreateIndex, Verb: api.VerbInterrupt, Plan: api.PlanDeploy,
			}})
			if errs[0] != nil {
				r.Fatal(errs[0])
			}
		}
		old := r.placement(job, 1, "a1")
		decide("d1", "")
		if res := r.submit(old)(); res.Whole || len(res.Refused) != 1 || res.Refresh != r.store.Index() {
			r.Errorf("a placement from before the decision: %+v, want it refused, to be worked out again", res)
		}
		written := r.submit(r.placement(job, 1, "b1"))
		synctest.Wait()
		decide("d2", "d1") // while the entry is on its way: the state refuses it
		if res := written(); res.Whole || res.Placed != 0 || len(res.Refused) != 1 || r.store.Snapshot().Allocation("b1") != nil {
			r.Errorf("a placement that was being written: %+v, want it refused", res)
		}
		if res := r.submit(r.placement(job, 1, "c1"))(); !res.Whole {
			r.Errorf("a placement that knows of the decisions: %+v, want it accepted", res)
		}
	})
}

func TestFailedWriteGivesRoomBack(t *testing.T) {
	run(t, func(r *rig) {
		job := r.job("web")
		r.fail = errors.New("disk full")
		if _, err := r.applier.Submit(r.Context(), r.placement(job, 900, "a1")); err == nil {
			r.Fatal("no error although the log cannot be written")
		}
		r.fail = nil
		if res := r.submit(r.placement(job, 900, "b1"))(); !res.Whole {
			r.Errorf("the next placement: %+v, want it accepted", res)
		}
	})
}

func TestWhatWaitsGoesIntoOneEntry(t *testing.T) {
	run(t, func(r *rig) {
		var waits []func() *applier.Result
		for i := range 20 {
			s := r.placement(r.job(fmt.Sprint("job", i)), 1, fmt.Sprint("a", i))
			waits = append(waits, r.submit(s))
			if i < 2 {
				synctest.Wait() // fill the pipeline
			}
		}
		began := time.Now()
		for _, wait := range waits {
			if !wait().Whole {
				r.Error("refused")
			}
		}
		if len(r.entries) != 3 || time.Since(began) > 2*writeTime {
			r.Errorf("entries of %v commands in %s, want one each for the first two and one for the rest", r.entries, time.Since(began))
		}
	})
}

func TestEndWithoutPlacement(t *testing.T) {
	run(t, func(r *rig) {
		s := r.placement(r.job("web"), 1)
		if res := r.submit(s)(); !res.Whole || r.store.Snapshot().Evaluation("eval-web") == nil {
			r.Errorf("result %+v, want the evaluation ended", res)
		}
	})
}
