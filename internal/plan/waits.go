// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Wait is an instance that has no place, and is to have one.
type Wait struct {
	Instance string
	Since    time.Time // that it may be placed; in the future while the attempt is not due
	Why      string    // it has none yet; "" if nobody has said
}

// Waits lists the instances of the job that have no place, the longest wait
// first: since the job was registered or dispatched, or since the attempt before
// ended. Of a job that declares plans, which may have them wait for others, it
// counts since something of the job changed last.
func Waits(r Reader, job *api.Job, now time.Time) (all []Wait) {
	v := Derive(r, job.Key(), job, now)
	defer v.Release()
	began := time.Unix(0, job.SubmitTime)
	if len(job.Plans) > 0 {
		for a := range r.AllocationsByJob(job.Namespace, job.ID) {
			began = laterOf(began, time.Unix(0, a.ModifyTime))
		}
	}
	for _, t := range v.trees {
		for _, p := range t.phases {
			for i := range p.steps {
				if since, ok := v.waitsSince(&p.steps[i]); ok {
					in := p.steps[i].on
					all = append(all, Wait{in.name(), laterOf(since, began), v.placementErrors()[in.group.name]})
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
func (s *View) waitsSince(st *step) (since time.Time, ok bool) {
	switch {
	case st.on == nil:
		return since, false
	case st.action == later:
		return st.until, true
	case !st.next || st.action != start && st.action != replace:
		return since, false
	case st.on.state == vacant && st.on.last != nil:
		return time.Unix(0, st.on.last.ModifyTime), true
	case st.on.state == vacant:
		return since, true
	case st.on.state == failed:
		return s.attemptAt(st.on).due, true
	}
	return since, false
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
