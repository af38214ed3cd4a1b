// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// priorityGap is how much lower the priority of a preempted job must be at
// least: jobs of about the same importance do not push each other around.
const priorityGap = 10

// A harm is what preempting a set of allocations does, in the order in which it
// counts: a smaller one is better.
type harm struct {
	over     int     // allocations beyond what their groups may lose at once (migrate.max_parallel)
	count    int     // allocations
	priority int     // sum of their jobs' priorities
	excess   float64 // room that is freed beyond what is lacking, in shares of the node
}

func (h harm) compare(other harm) int {
	return cmp.Or(h.rough(other), cmp.Compare(h.excess, other.excess))
}

// rough is compare without the excess.
func (h harm) rough(other harm) int {
	return cmp.Or(h.over-other.over, h.count-other.count, h.priority-other.priority)
}

// A victim is an allocation that may be preempted.
type victim struct {
	alloc    *api.Allocation
	usage    api.Usage
	more     bool // it holds cores, devices or ports
	priority int
	group    losers
}

// losers are the instances of which only so many may be lost at once.
type losers struct{ namespace, job, group string }

// alike reports whether preempting one or the other makes no difference.
func (v *victim) alike(w *victim) bool {
	return v.priority == w.priority && v.usage == w.usage && !v.more && !w.more && v.group == w.group
}

// compareVictims orders by priority, puts those together that are alike, and of
// those the newest first: it has done the least.
func compareVictims(v, w *victim) int {
	return cmp.Or(v.priority-w.priority, strings.Compare(v.group.job, w.group.job), strings.Compare(v.group.group, w.group.group),
		strings.Compare(v.group.namespace, w.group.namespace),
		cmp.Compare(w.usage.CPU, v.usage.CPU), cmp.Compare(w.usage.MemoryMB, v.usage.MemoryMB), cmp.Compare(w.usage.DiskMB, v.usage.DiskMB),
		cmp.Compare(w.alloc.CreateIndex, v.alloc.CreateIndex), strings.Compare(v.alloc.ID, w.alloc.ID))
}

// mayLose is how many instances of the victim's group may be lost at once; -1:
// any number.
func (v *victim) mayLose() int {
	if g := v.alloc.Job.Group(v.alloc.Group); g != nil && g.Migrate != nil && g.Migrate.MaxParallel != nil {
		return *g.Migrate.MaxParallel
	}
	return -1
}

// held sorts what is on the node into allocations that are ending anyway, whose
// room only has to be waited for, and such as may be preempted for the job.
func (p *pass) held(nodeID string, job *api.Job) (ending []*api.Allocation, victims []victim) {
	for a := range p.order.Policy.Held(nodeID) {
		switch {
		case !a.HoldsResources() || a.Job == nil || a.JobID == p.order.JobID && a.Namespace == p.order.Namespace:
		case a.IsServerTerminal() || p.preempted[a.ID]:
			ending = append(ending, a)
		case a.Job.Priority+priorityGap <= job.Priority:
			v := victim{alloc: a, priority: a.Job.Priority, group: losers{a.Namespace, a.JobID, a.Group}}
			v.usage, v.more = a.Holding()
			v.more = v.more || a.AllocatedResources != nil && len(a.AllocatedResources.Shared.Ports) > 0
			victims = append(victims, v)
		}
	}
	slices.SortFunc(ending, func(a, b *api.Allocation) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(victims, func(v, w victim) int { return compareVictims(&v, &w) })
	return ending, victims
}
