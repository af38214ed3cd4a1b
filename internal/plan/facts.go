// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// facts holds what is known about one job at one moment: its instances, by group
// and index, and what the store says about them. Nothing changes them after
// newFacts returns; the plans are derived from them.
type facts struct {
	versions
	presence
	decisions  decisions
	r          Reader
	key        api.NamespacedID
	job        *api.Job // newest version; nil: purged
	eval       *api.Evaluation
	now        time.Time
	groups     []*group          // of the job in declared order, then those that left it
	instances  int               // number of instances, canaries included
	deployment *api.Deployment   // newest one of the job, of any version
	left       []*api.Allocation // orphans that continue outside of the job for now
	drains     bool              // reports whether a node of the job's allocations is drained
	// collected reports whether an allocation of the newest version belongs to a
	// deployment that is no longer stored.
	collected bool
	old       map[*group]bool // memory of hasOutdated
}

// newFacts returns the facts about the job. Eval is the evaluation that asks for
// them; nil if none does.
func newFacts(r Reader, key api.NamespacedID, job *api.Job, eval *api.Evaluation, now time.Time, m *factsScratch) *facts {
	f := &m.facts
	*f = facts{
		versions: versions{r: r, key: key, job: job}, presence: presence{r: r, job: job, now: now},
		decisions: newDecisions(job, r.Decisions(key.Namespace, key.ID)),
		r:         r, key: key, job: job, eval: eval, now: now,
		deployment: r.LatestDeployment(key.Namespace, key.ID),
	}
	s := sorter{facts: f, scratch: m, byName: make(map[string]*group)}
	s.sort()
	f.drains = f.seenDrain
	return f
}

// ordersOn returns what operators decided about the instance, oldest first.
func (f *facts) ordersOn(in *instance) orders {
	if len(f.decisions.orders) == 0 {
		return nil
	}
	return f.decisions.on(in.place())
}

// paused returns the decision that holds all of the tasks of the instance (nil: all
// of its group); nil if one of them is not held.
func (f *facts) paused(in *instance, tasks []string) *api.Decision {
	o := f.ordersOn(in)
	if len(o) == 0 {
		return nil
	}
	if len(tasks) == 0 {
		tasks = taskNames(in.group.def)
	}
	return o.allPausedBy(tasks)
}
