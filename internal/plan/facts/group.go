// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A Group is the instances of one task group.
type Group struct {
	Name      string
	Def       *api.Group // nil if the group left the job
	Rolling   bool       // its instances are moved under a deployment
	Instances []Instance // by index; of a job that runs on every node, by node
	// Of a job that runs on every node: the first open instances are on nodes that
	// may be given one, ordered by id; closed are the others, by node.
	Everywhere bool
	open       int
	closed     map[string]int
	Excess     []Departure
	Stopping   []*api.Allocation // stopping, on a lost node
	Going      []*api.Allocation // stopping, without successor
	Gone       []*api.Allocation // ended, of a job that is being removed
	// rivals are further allocations that claim an instance, by its index; behind
	// are those of them that stay for now.
	rivals map[int][]*api.Allocation
	Behind []*api.Allocation
	// Unpromoted reports whether the group waits for the promotion of its canaries.
	// Canaries holds those that run beside the older instances, by index; beside
	// holds all allocations that were placed as canaries.
	Unpromoted bool
	Canaries   []Instance
	beside     []*api.Allocation
	// differs is the memory of versions.differs for the version from.
	from    *api.Job
	differs bool
}

// An Instance is one place of a group.
type Instance struct {
	Group  *Group
	Index  int
	Node   string          // the only one that it may run on; "": any
	Alloc  *api.Allocation // holds the place: wanted, and newer than others
	Last   *api.Allocation // newest one that was stopped, if none holds it
	State  State
	Number int // of the instance among all of the job, from 1; 0: it has no place
	// Canary reports whether it waits, or will wait, for promotion.
	Canary bool
	// Closed reports whether its node accepts no new allocations: its allocation stays
	// unchanged.
	Closed bool
	// Away is the absence of its allocation while its node is silent; nil: none.
	Away *absence
}

// A State is the state of the allocation that holds an instance.
type State uint8

const (
	Vacant  State = iota // no allocation holds the instance
	Placed               // its node has not reported it yet
	Running              // its tasks run
	Unknown              // its node is unreachable, or has not reported since it returned
	Failed               // its tasks failed, and the restart policy gave up
	Ended                // its tasks ended well
	Lost                 // its node was given up or removed
	Moving               // a user stopped it, or its node is drained
)

// Every yields the group's instances, canaries first.
func (g *Group) Every(yield func(*Instance) bool) {
	for i := range g.Canaries {
		if !yield(&g.Canaries[i]) {
			return
		}
	}
	for i := range g.Instances {
		if !yield(&g.Instances[i]) {
			return
		}
	}
}

// addExcess records an allocation without an instance, unless it has ended. The reason
// is 0 if it follows from the allocation's place.
func (g *Group) addExcess(a *api.Allocation, reason api.Reason) {
	if !a.IsClientTerminal() {
		g.Excess = append(g.Excess, Departure{g, a, reason})
	}
}

// Serves reports whether the instance may serve users, so that stopping it
// takes something away from them.
func (i *Instance) Serves() bool {
	return i.State == Running && !i.Alloc.IsUnhealthy() || i.State == Unknown && !i.IsReplaced()
}

// IsReplaced reports whether the instance is to be started elsewhere while its node is
// silent.
func (i *Instance) IsReplaced() bool { return i.Away != nil && i.Away.Replaced && !i.Closed }

// The value of an instance to users.
const (
	NoWorth   = iota // it does not run, or is unhealthy
	someWorth        // it runs, and its health is not known yet
	HighWorth        // it runs, and is healthy
)

// Rank returns the value of the instance to users.
func (i *Instance) Rank() int {
	switch {
	case !i.Serves():
		return NoWorth
	case i.Alloc.DeploymentID != "" && !i.Alloc.IsHealthy():
		return someWorth
	}
	return HighWorth
}

// newer reports whether a was placed after b; nil is older than any allocation.
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

// Find returns the instance that the allocation is, or was, made for; nil if the
// group has it no more.
func (g *Group) Find(a *api.Allocation) *Instance {
	if g == nil {
		return nil
	}
	i := a.Index()
	if g.Everywhere { // sorted by node
		var found bool
		if i, found = slices.BinarySearchFunc(g.Instances, a.NodeID, func(in Instance, id string) int { return strings.Compare(in.Node, id) }); !found {
			return nil
		}
	}
	if i < 0 || i >= len(g.Instances) {
		return nil
	}
	return &g.Instances[i]
}
