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

// A preemptionCost is what preempting a set of allocations does, in the order in which it
// counts: a smaller one is better.
type preemptionCost struct {
	over     int     // allocations beyond what their groups may lose at once (migrate.max_parallel)
	count    int     // allocations
	priority int     // sum of their jobs' priorities
	excess   float64 // room that is freed beyond what is lacking, in shares of the node
}

func (h preemptionCost) compare(other preemptionCost) int {
	return cmp.Or(h.compareCoarse(other), cmp.Compare(h.excess, other.excess))
}

// compareCoarse is compare without the excess.
func (h preemptionCost) compareCoarse(other preemptionCost) int {
	return cmp.Or(h.over-other.over, h.count-other.count, h.priority-other.priority)
}

// A victim is an allocation that may be preempted.
type victim struct {
	alloc    *api.Allocation
	usage    api.Usage
	priority int
	group    int32 // in losses
	more     bool  // it holds cores, devices or ports
}

// alike reports whether preempting one or the other makes no difference.
func (v *victim) alike(w *victim) bool {
	return v.priority == w.priority && v.usage == w.usage && !v.more && !w.more && v.group == w.group
}

// compareVictims orders by priority, puts those together that are alike, and of
// those the newest first: it has done the least.
func compareVictims(v, w victim) int {
	return cmp.Or(v.priority-w.priority, int(v.group-w.group),
		cmp.Compare(w.usage.CPU, v.usage.CPU), cmp.Compare(w.usage.MemoryMB, v.usage.MemoryMB), cmp.Compare(w.usage.DiskMB, v.usage.DiskMB),
		cmp.Compare(w.alloc.CreateIndex, v.alloc.CreateIndex), strings.Compare(v.alloc.ID, w.alloc.ID))
}

// groupLosses count what an order preempts, by group: few groups have many victims.
type groupLosses struct {
	groups []groupLoss
	byJob  map[*api.Job]map[string]int32 // numbers of the groups of a job version
	byName map[groupName]int32
}

// A groupLoss is what one group loses.
type groupLoss struct {
	may  int // instances that may be lost at once (migrate.max_parallel); -1: any number
	lost int // preempted by the order
	more int // in the set that is looked at
}

type groupName struct{ namespace, job, group string }

func newGroupLosses() *groupLosses {
	return &groupLosses{byJob: map[*api.Job]map[string]int32{}, byName: map[groupName]int32{}}
}

// group returns the number of the allocation's group.
func (l *groupLosses) group(a *api.Allocation) int32 {
	groups := l.byJob[a.Job]
	if n, ok := groups[a.Group]; ok {
		return n
	}
	if groups == nil {
		groups = map[string]int32{}
		l.byJob[a.Job] = groups
	}
	name := groupName{a.Namespace, a.JobID, a.Group}
	n, ok := l.byName[name]
	if !ok {
		n = int32(len(l.groups))
		l.byName[name] = n
		may := -1
		if g := a.Job.Group(a.Group); g != nil && g.Migrate != nil && g.Migrate.MaxParallel != nil {
			may = *g.Migrate.MaxParallel
		}
		l.groups = append(l.groups, groupLoss{may: may})
	}
	groups[a.Group] = n
	return n
}

// add counts one more victim of the group in the set; it returns 1 if the group
// loses more than it may.
func (l *groupLosses) add(group int32) int {
	g := &l.groups[group]
	g.more++
	if g.may >= 0 && g.lost+g.more > g.may {
		return 1
	}
	return 0
}

// drop takes one back.
func (l *groupLosses) drop(group int32) { l.groups[group].more-- }

// collectHeld sorts what is on the node into allocations that are ending anyway, whose
// room only has to be waited for, and such as may be preempted for the job. Both
// are good until the next call.
func (x *preemptor) collectHeld(nodeID string, job *api.Job) {
	o := x.pass.order
	x.ending, x.victims = x.ending[:0], x.victims[:0]
	for a := range o.Policy.Held(nodeID) {
		switch {
		case !a.HoldsResources() || a.Job == nil || a.JobID == o.JobID && a.Namespace == o.Namespace:
		case a.IsServerTerminal() || x.preempted[a.ID]:
			x.ending = append(x.ending, a)
		case a.Job.Priority+priorityGap <= job.Priority:
			v := victim{alloc: a, priority: a.Job.Priority, group: x.losses.group(a)}
			v.usage, v.more = a.Holding()
			v.more = v.more || a.AllocatedResources != nil && len(a.AllocatedResources.Shared.Ports) > 0
			x.victims = append(x.victims, v)
		}
	}
	slices.SortFunc(x.ending, func(a, b *api.Allocation) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(x.victims, compareVictims)
}

// priorities counts the allocations that hold room, by their job's priority: so
// it is known at once when there is nobody to preempt.
type priorities [api.JobPriorityMax + 1]int32

func (p *priorities) count(a *api.Allocation, by int) {
	if a.Job != nil {
		p[min(max(a.Job.Priority, 0), api.JobPriorityMax)] += int32(by)
	}
}

// upTo reports whether there is any of the priority or a lower one.
func (p *priorities) upTo(priority int) bool {
	for i := 0; i <= min(priority, api.JobPriorityMax); i++ {
		if p[i] > 0 {
			return true
		}
	}
	return false
}
