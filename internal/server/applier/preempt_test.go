// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package applier_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/applier"
	"github.com/reeve-run/reeve/internal/state"
)

// preempting is a placement of the job whose allocations each wait for the
// victims, and preempt them.
func (r *rig) preempting(job *api.Job, cpu int64, victims []string, ids ...string) *applier.Submission {
	s := r.placement(job, cpu, ids...)
	for _, a := range s.Placement.Place {
		a.PreemptedAllocations = victims
		for _, v := range victims {
			s.Placement.Preempt = append(s.Placement.Preempt, state.Preemption{ID: v, By: a.ID})
		}
	}
	return s
}

// desired is what is wanted of allocations, by id; "" of those that are not
// stored.
func (r *rig) desired(ids ...string) map[string]string {
	out := map[string]string{}
	for _, id := range ids {
		out[id] = ""
		if a := r.store.Snapshot().Allocation(id); a != nil {
			out[id] = a.DesiredStatus
		}
	}
	return out
}

func (r *rig) wantDesired(want map[string]string) {
	r.Helper()
	var ids []string
	for id := range want {
		ids = append(ids, id)
	}
	if diff := cmp.Diff(want, r.desired(ids...)); diff != "" {
		r.Errorf("what is wanted of the allocations (-want +got):\n%s", diff)
	}
}

// end has the node say that an allocation has ended.
func (r *rig) end(id string) {
	r.apply(&state.UpdateAllocations{NodeID: "n", Allocations: []*api.Allocation{{ID: id, ClientStatus: api.AllocClientComplete}}})
	synctest.Wait()
}

// TestPreemptedRoomIsPromisedOnce has two placements, one in flight, wait for
// the end of the same allocation: the second gets only what the first leaves.
func TestPreemptedRoomIsPromisedOnce(t *testing.T) {
	run(t, func(r *rig) {
		if res := r.submit(r.placement(r.job("low"), 900, "low"))(); !res.Whole {
			r.Fatalf("the low one was refused: %+v", res)
		}
		one := r.submit(r.preempting(r.job("a"), 600, []string{"low"}, "a1"))
		synctest.Wait() // it is being written
		two := r.submit(r.preempting(r.job("b"), 600, []string{"low"}, "b1"))
		three := r.submit(r.preempting(r.job("c"), 400, []string{"low"}, "c1"))
		four := r.submit(r.placement(r.job("d"), 50, "d1"))
		if res := one(); !res.Whole {
			r.Errorf("the first was refused: %+v", res)
		}
		if res := two(); res.Placed != 0 || len(res.Refused) != 1 {
			r.Errorf("the second claims the same room, and is committed: %+v", res)
		}
		if res := three(); !res.Whole {
			r.Errorf("the third fits beside the first, and was refused: %+v", res)
		}
		if res := four(); res.Placed != 0 {
			r.Errorf("the fourth waits for nobody, and got promised room: %+v", res)
		}
		r.wantDesired(map[string]string{"low": "evict", "a1": "run", "b1": "", "c1": "run", "d1": ""})
		if by := r.store.Snapshot().Allocation("low").PreemptedByAllocation; by != "a1" && by != "c1" {
			r.Errorf("the low one was preempted by %q, want one of those that wait", by)
		}
		r.end("low")
		if res := r.submit(r.placement(r.job("e"), 1, "e1"))(); res.Placed != 0 {
			r.Errorf("the node is full, and took more: %+v", res)
		}
	})
}

func TestWhatIsRefusedPreemptsNobody(t *testing.T) {
	run(t, func(r *rig) {
		r.submit(r.placement(r.job("low"), 400, "low"))()
		r.submit(r.placement(r.job("other"), 400, "other"))()
		s := r.preempting(r.job("high"), 700, []string{"low"}, "h1")
		if res := r.submit(s)(); res.Placed != 0 {
			r.Errorf("what it preempts is not enough, and it was committed: %+v", res)
		}
		r.wantDesired(map[string]string{"low": "run", "h1": ""})
	})
}

// TestWhatHasEndedGivesNoRoomTwice preempts an allocation that ended after the
// placement was worked out: its room is free already.
func TestWhatHasEndedGivesNoRoomTwice(t *testing.T) {
	run(t, func(r *rig) {
		r.submit(r.placement(r.job("low"), 500, "low"))()
		late := r.preempting(r.job("late"), 900, []string{"low"}, "l1")
		r.end("low")
		if res := r.submit(r.placement(r.job("quick"), 500, "q1"))(); !res.Whole {
			r.Errorf("the room is free, and a placement was refused: %+v", res)
		}
		if res := r.submit(late)(); res.Placed != 0 {
			r.Errorf("the room was taken meanwhile, and given again: %+v", res)
		}
	})
}

func TestAPreemptionThatIsNotWritten(t *testing.T) {
	run(t, func(r *rig) {
		r.submit(r.placement(r.job("low"), 900, "low"))()
		r.fail = errors.New("disk full")
		if _, err := r.applier.Submit(r.Context(), r.preempting(r.job("a"), 600, []string{"low"}, "a1")); err == nil {
			r.Error("the write failed, and nobody was told")
		}
		r.fail = nil
		r.wantDesired(map[string]string{"low": "run", "a1": ""})
		if res := r.submit(r.preempting(r.job("b"), 900, []string{"low"}, "b1"))(); !res.Whole {
			r.Errorf("another was refused: %+v", res)
		}
	})
}
