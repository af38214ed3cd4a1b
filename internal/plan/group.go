// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A group is the instances of one task group.
type group struct {
	name      string
	def       *api.Group // nil if the group left the job
	rolling   bool       // its instances are moved under a deployment
	instances []instance // by index; of a job that runs on every node, by node
	// Of a job that runs on every node: the first open instances are on nodes that
	// may be given one, ordered by id; closed are the others, by node.
	everywhere bool
	open       int
	closed     map[string]int
	excess     []departure
	stopping   []*api.Allocation // on a lost node, and told to stop before
	going      []*api.Allocation // told to stop, and not known to have ended; nobody comes after them
	gone       []*api.Allocation // ended, of a job that is being removed
	// rivals are further allocations that claim an instance, by its index; behind
	// are those of them that stay for now.
	rivals map[int][]*api.Allocation
	behind []*api.Allocation
	// unpromoted is set while the group waits for its canaries to be promoted.
	// Those that run beside the older instances are canaries, by index; beside is
	// what was placed as one.
	unpromoted bool
	canaries   []instance
	beside     []*api.Allocation
	// differs is memory of survey.differs, for the version that was asked about last.
	from    *api.Job
	differs bool
}

// An instance is one place of a group.
type instance struct {
	group  *group
	index  int
	node   string          // the only one that it may run on; "": any
	alloc  *api.Allocation // holds the place: wanted, and newer than others
	last   *api.Allocation // newest one that was stopped, if none holds it
	state  state
	number int // of the instance among all of the job, from 1; 0: it has no place
	// canary is set while it waits, or will wait, for promotion.
	canary bool
	// closed is set when its node takes nothing new: what is there stays as it is.
	closed bool
	// away is set when its node is silent, and its allocation not lost yet.
	away *absence
}

// A state is how the allocation that holds an instance is.
type state uint8

const (
	vacant  state = iota // no allocation holds the instance
	placed               // the node has not said anything of it yet
	running              // its tasks run
	unknown              // its node is out of reach, or has not spoken since it is back
	failed               // its tasks failed, and the restart policy gave up
	ended                // its tasks ended well
	lost                 // its node is gone
	moving               // somebody stopped it, or its node is drained
)

// every yields the group's instances, canaries first.
func (g *group) every(yield func(*instance) bool) {
	for i := range g.canaries {
		if !yield(&g.canaries[i]) {
			return
		}
	}
	for i := range g.instances {
		if !yield(&g.instances[i]) {
			return
		}
	}
}

// addExcess notes an allocation that has no place, unless it has ended anyway. The
// reason is 0 if it follows from where it is.
func (g *group) addExcess(a *api.Allocation, reason api.Reason) {
	if !a.IsClientTerminal() {
		g.excess = append(g.excess, departure{g, a, reason})
	}
}

// serves reports whether the instance may serve users, so that stopping it
// takes something away from them.
func (i *instance) serves() bool {
	return i.state == running && !i.alloc.IsUnhealthy() || i.state == unknown && !i.isReplaced()
}

// isReplaced reports whether the instance is to be started elsewhere while its node is
// silent.
func (i *instance) isReplaced() bool { return i.away != nil && i.away.replaced && !i.closed }

// What an instance is worth to users, from nothing upwards.
const (
	noWorth   = iota // it does not run, or is not well
	someWorth        // it runs, and its node has not said yet whether it is well
	wellWorth
)

func (i *instance) rank() int {
	switch {
	case !i.serves():
		return noWorth
	case i.alloc.DeploymentID != "" && !i.alloc.IsHealthy():
		return someWorth
	}
	return wellWorth
}
func newer(a, b *api.Allocation) bool {
	switch {
	case b == nil:
		return true
	case a.CreateIndex != b.CreateIndex:
		return a.CreateIndex > b.CreateIndex
	case a.CreateTime != b.CreateTime:
		return a.CreateTime > b.CreateTime
	}
	return a.ID > b.ID
}

// find returns the instance that the allocation is, or was, made for; nil if the
// group has it no more.
func (g *group) find(a *api.Allocation) *instance {
	if g == nil {
		return nil
	}
	i := a.Index()
	if g.everywhere { // sorted by node
		var found bool
		if i, found = slices.BinarySearchFunc(g.instances, a.NodeID, func(in instance, id string) int { return strings.Compare(in.node, id) }); !found {
			return nil
		}
	}
	if i < 0 || i >= len(g.instances) {
		return nil
	}
	return &g.instances[i]
}
