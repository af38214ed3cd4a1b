// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// A Wait is an instance that has no place, and is to have one.
type Wait struct {
	Instance string
	Since    time.Time // that it may be placed; in the future while the attempt is not due
	Why      string    // it has no place yet; "" if unknown
}

// Waits lists the instances of the job that have no place, the longest wait
// first: since the job was registered or dispatched, or since the attempt before
// ended. Of a job that declares plans, which may have them wait for others, it
// counts since something of the job changed last.
func Waits(r facts.Reader, job *api.Job, now time.Time) (all []Wait) {
	v := Derive(r, job.Key(), job, now)
	defer v.Release()
	began := time.Unix(0, job.SubmitTime)
	if len(job.Plans) > 0 {
		for a := range r.AllocationsByJob(job.Namespace, job.ID) {
			began = laterOf(began, time.Unix(0, a.ModifyTime))
		}
	}
	for _, t := range v.Trees {
		for _, p := range t.Phases {
			for i := range p.Steps {
				if since, ok := v.waitsSince(&p.Steps[i]); ok {
					in := p.Steps[i].On
					all = append(all, Wait{in.Name(), laterOf(since, began), v.placementErrors()[in.Group.Name]})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Wait) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Instance, b.Instance)) })
	return all
}

// waitsSince is since when, or from when on, the step waits for a place. What is
// lost is not seen to wait before it is marked so, and what runs on until there
// is another place does not wait.
func (v *View) waitsSince(st *tree.Step) (since time.Time, ok bool) {
	switch {
	case st.On == nil:
		return since, false
	case st.Action == tree.Later:
		return st.Until, true
	case !st.Next || st.Action != tree.Start && st.Action != tree.Replace:
		return since, false
	case st.On.State == facts.Vacant && st.On.Last != nil:
		return time.Unix(0, st.On.Last.ModifyTime), true
	case st.On.State == facts.Vacant:
		return since, true
	case st.On.State == facts.Failed:
		return v.AttemptAt(st.On).Due, true
	}
	return since, false
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
