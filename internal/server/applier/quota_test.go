// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package applier_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/applier"
	"github.com/reeve-run/reeve/internal/state"
)

// limit lets the default namespace have so many allocations.
func (r *rig) limit(most int) {
	r.apply(state.PutQuota(&api.Quota{Name: "q", Limits: []*api.QuotaLimit{{RegionLimit: &api.QuotaResources{Allocations: &most}}}}, nil))
	r.apply(state.PutNamespace(&api.Namespace{Name: "default", Quota: "q"}, nil))
}

func (r *rig) used() int64 { return r.store.Snapshot().QuotaUsed("q")["default"].Allocations }

// replacing places instances that replace others.
func (r *rig) replacing(job *api.Job, old []string, ids ...string) *applier.Submission {
	s := r.placement(job, 1, ids...)
	for i, a := range s.Placement.Place {
		if i < len(old) {
			a.PreviousAllocation = old[i]
			s.Placement.Stop = append(s.Placement.Stop, state.Stop{ID: old[i]})
		}
	}
	return s
}

// TestPlacementsInFlightCountAgainstQuotas submits more than a quota permits while the entry of the
// first placement is being written.
func TestPlacementsInFlightCountAgainstQuotas(t *testing.T) {
	run(t, func(r *rig) {
		r.limit(3)
		one := r.submit(r.placement(r.job("a"), 1, "a1", "a2"))
		synctest.Wait()
		two := r.submit(r.placement(r.job("b"), 1, "b1", "b2"))
		if res := one(); !res.Whole {
			r.Errorf("the first: %+v", res)
		}
		res := two()
		if res.Whole || res.Placed != 1 || len(res.Refused) != 1 || res.Refused[0].AllocID != "b2" || res.Refused[0].NodeID != "" {
			r.Fatalf("the second: %+v", res)
		}
		if want := `quota "q": allocations exhausted (3 used + 1 asked > 3 limit)`; res.Refused[0].Reason != want {
			r.Errorf("the reason is %q", res.Refused[0].Reason)
		}
		if r.used() != 3 {
			r.Errorf("%d are used", r.used())
		}
	})
}

// TestReplacementsCountNet replaces allocations at the limit. A stop frees nothing for others before it is
// applied, and an allocation that ended by itself frees nothing for its successor.
func TestReplacementsCountNet(t *testing.T) {
	run(t, func(r *rig) {
		r.limit(2)
		r.submit(r.placement(r.job("a"), 1, "a1", "a2"))()
		job := r.store.Snapshot().Job("default", "a")
		one := r.submit(r.replacing(job, []string{"a1"}, "a3"))
		synctest.Wait()
		r.end("a1") // what it used is promised to its successor
		if res := r.submit(r.placement(r.job("b"), 1, "b1"))(); res.Placed != 0 {
			r.Errorf("another job takes what a successor needs: %+v", res)
		}
		if res := one(); !res.Whole {
			r.Errorf("the successor: %+v", res)
		}
		if r.used() != 2 {
			r.Errorf("%d are used", r.used())
		}
		// Two successors of one: a refused one keeps it, so neither may count on its stop.
		s := r.replacing(job, []string{"a2", "a2"}, "a4", "a5")
		if res := r.submit(s)(); res.Placed != 0 || r.used() != 2 {
			r.Errorf("two successors of one: %+v, %d used", res, r.used())
		}
		// An update in place is never refused, even over the limit.
		r.limit(-1)
		update := r.placement(job, 1, "a3")
		update.Placement.Place[0].CreateIndex, update.Placement.Place[0].DesiredStatus = 1, api.AllocDesiredRun
		if res := r.submit(update)(); !res.Whole {
			r.Errorf("an update in place: %+v", res)
		}
		if res := r.submit(r.replacing(job, []string{"a3"}, "a6"))(); res.Placed != 0 || r.store.Snapshot().Allocation("a3").IsServerTerminal() {
			r.Errorf("a limit of nothing permits a replacement, or stops its predecessor: %+v", res)
		}
	})
}

// TestNoOrderOfEntriesExceedsAQuota submits placements, replacements and ends of many jobs at once,
// some of whose entries fail.
func TestNoOrderOfEntriesExceedsAQuota(t *testing.T) {
	for seed := range uint64(10) {
		run(t, func(r *rig) {
			r.limit(10)
			random := rand.New(rand.NewPCG(seed, 3))
			full := 0
			for step := range 60 {
				var answers []func() *applier.Result
				for j := range 4 {
					job := r.store.Snapshot().Job("default", fmt.Sprint("j", j))
					if job == nil {
						job = r.job(fmt.Sprint("j", j))
					}
					var old, ids []string
					for a := range r.store.Snapshot().AllocationsByJob("default", job.ID) {
						if !a.IsTerminal() && random.IntN(3) == 0 {
							old = append(old, a.ID)
						}
					}
					for i := range random.IntN(4) {
						ids = append(ids, fmt.Sprintf("s%d-%d-%d", step, j, i))
					}
					s := r.replacing(job, old, ids...)
					if len(ids) == 0 && len(old) > 0 {
						s.Placement.Stop = []state.Stop{{ID: old[0]}}
					}
					answers = append(answers, r.submit(s))
					if random.IntN(2) == 0 {
						synctest.Wait()
					}
					if len(old) > 0 && random.IntN(2) == 0 {
						r.end(old[0])
					}
					if used := r.used(); used > 10 {
						t.Fatalf("seed %d, step %d: %d are used", seed, step, used)
					}
				}
				for _, answer := range answers {
					for _, refusal := range answer().Refused {
						if strings.HasPrefix(refusal.Reason, "quota") {
							full++
						}
					}
				}
				if used := r.used(); used > 10 {
					t.Fatalf("seed %d, step %d: %d are used", seed, step, used)
				}
			}
			if full == 0 {
				t.Error("the quota refused nothing: the test shows nothing")
			}
		})
	}
}
