// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// PriorityGap is the minimum difference in priority between a job and the jobs that it may
// preempt. Jobs of similar importance do not preempt each other.
const PriorityGap = 10

// A preemptionCost is the cost of preempting a set of allocations. Its fields are compared
// in order, and a smaller cost is better.
type preemptionCost struct {
	over     int     // allocations beyond what their groups may lose together (migrate.max_parallel)
	count    int     // number of allocations
	priority int     // sum of their jobs' priorities
	excess   float64 // room freed beyond what is lacking, in shares of the node
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
	group    int32 // index in losses
	more     bool  // reports whether it holds cores, devices or ports
}

// alike reports whether preempting v or w costs the same and frees the same.
func (v *victim) alike(w *victim) bool {
	return v.priority == w.priority && v.usage == w.usage && !v.more && !w.more && v.group == w.group
}

// compareVictims orders victims by priority, then groups equal victims, newest first: the
// newest has done the least work.
func compareVictims(v, w victim) int {
	return cmp.Or(v.priority-w.priority, int(v.group-w.group),
		cmp.Compare(w.usage.CPU, v.usage.CPU), cmp.Compare(w.usage.MemoryMB, v.usage.MemoryMB), cmp.Compare(w.usage.DiskMB, v.usage.DiskMB),
		cmp.Compare(w.alloc.CreateIndex, v.alloc.CreateIndex), strings.Compare(v.alloc.ID, w.alloc.ID))
}

// groupLosses counts an order's preemptions by group. Few groups have many victims.
type groupLosses struct {
	groups []groupLoss
	byJob  map[*api.Job]map[string]int32 // group numbers by name, by job version
	byName map[groupName]int32
}

// A groupLoss counts the losses of one group.
type groupLoss struct {
	may  int // instances that may be lost together (migrate.max_parallel); -1: no limit
	lost int // instances preempted by the order
	more int // instances in the set under evaluation
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

// add counts one more victim of the group in the set. It returns 1 if the group then
// exceeds its limit, else 0.
func (l *groupLosses) add(group int32) int {
	g := &l.groups[group]
	g.more++
	if g.may >= 0 && g.lost+g.more > g.may {
		return 1
	}
	return 0
}

// drop removes one victim of the group from the set.
func (l *groupLosses) drop(group int32) { l.groups[group].more-- }

// collectHeld divides the allocations on the node into ending allocations, whose room only
// has to be waited for, and victims that may be preempted for the job. Both lists are
// valid until the next call.
func (x *preemptor) collectHeld(nodeID string, job *api.Job) {
	o := x.pass.order
	x.ending, x.victims = x.ending[:0], x.victims[:0]
	for a := range o.Policy.Held(nodeID) {
		switch {
		case !a.HoldsResources() || a.Job == nil || a.JobID == o.JobID && a.Namespace == o.Namespace:
		case a.IsServerTerminal() || x.preempted[a.ID]:
			x.ending = append(x.ending, a)
		case a.Job.Priority+PriorityGap <= job.Priority:
			v := victim{alloc: a, priority: a.Job.Priority, group: x.losses.group(a)}
			v.usage, v.more = a.Holding()
			v.more = v.more || a.AllocatedResources != nil && len(a.AllocatedResources.Shared.Ports) > 0
			x.victims = append(x.victims, v)
		}
	}
	slices.SortFunc(x.ending, func(a, b *api.Allocation) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(x.victims, compareVictims)
}

// priorities counts the allocations that hold resources by their job's priority. It shows
// immediately when no allocation can be preempted.
type priorities [api.JobPriorityMax + 1]int32

func (p *priorities) count(a *api.Allocation, by int) {
	if a.Job != nil {
		p[min(max(a.Job.Priority, 0), api.JobPriorityMax)] += int32(by)
	}
}

// upTo reports whether any allocation has the priority or a lower one.
func (p *priorities) upTo(priority int) bool {
	for i := 0; i <= min(priority, api.JobPriorityMax); i++ {
		if p[i] > 0 {
			return true
		}
	}
	return false
}
