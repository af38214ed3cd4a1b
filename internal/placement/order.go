// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"iter"

	"github.com/reeve-run/reeve/api"
)

// A Request asks for one instance to be placed. Requests that differ only in
// name, index and previous allocation are placed in one pass.
type Request struct {
	Job        *api.Job // the version to make the allocation from
	Group      *api.Group
	Name       string // job.group[index]
	Index      int
	Deployment string // id of the deployment that the allocation is part of, or ""
	Canary     bool

	// NodeID pins the request: it is placed on this node or not at all. Instances
	// of system jobs are. "" is any node.
	NodeID string

	// Previous is the allocation that the new one takes over from; nil if the
	// index never had one. Its history goes on in Tracker.
	Previous *api.Allocation
	Tracker  *api.RescheduleTracker
	// Recovery and Launches are those of the allocation that is made.
	Recovery string
	Launches *api.Launches
	// Penalised are nodes to avoid if there is another choice: the instance
	// failed there.
	Penalised []string

	// Replaces is what must be stopped when, and only when, the request is
	// placed (or waits for the room of what it replaces). Nil if nothing.
	Replaces *Stop
}

// A Stop is an allocation that is to end.
type Stop struct {
	Alloc        *api.Allocation
	Description  string // why, in words
	ClientStatus string // api.AllocClientLost if its node is gone; else ""
}

// An Order is all that one evaluation wants placed.
type Order struct {
	EvalID    string
	Namespace string
	JobID     string
	AllAtOnce bool // place every request or none

	Requests []*Request
	// Kept are the job's other allocations that go on running. They count for
	// anti-affinity, distinct hosts, distinct properties and spread.
	Kept []*api.Allocation

	Policy Policy // what the cluster and the job's pool say

	Now   int64         // Unix nanoseconds; the allocations' times
	NewID func() string // makes allocation ids; nil outside of tests
	Seed  uint64        // breaks ties and picks the first port to try
}

// A Policy is how the cluster wants things placed, whatever the job says. The
// zero value packs and preempts nothing.
type Policy struct {
	Algorithm string // api.AlgorithmBinpack ("" too) or api.AlgorithmSpread
	// ZoneAttribute is what services without spread of their own are spread
	// over evenly; "": nothing.
	ZoneAttribute string
	// MaxStarting bounds the allocations that are starting on a node; 0: no bound.
	MaxStarting int
	// MemoryOversubscription lets tasks use up to their memory_max.
	MemoryOversubscription bool
	// Held lists the allocations on a node, to find some to preempt for requests
	// that have no room; nil: nothing is preempted.
	Held func(nodeID string) iter.Seq[*api.Allocation]
}

// An Outcome says what became of an Order.
type Outcome struct {
	Place []*api.Allocation
	// Stop is what placed and waiting requests replace.
	Stop []*Stop
	// Preempt is what placed requests need the room of.
	Preempt []Preemption
	// Waiting counts, by group, the requests that have room as soon as their
	// predecessor has ended, which is being stopped now or was before: they are in
	// Queued too, but nothing failed.
	Waiting map[string]int
	// Failed tells, by group, why requests could not be placed.
	Failed map[string]*api.PlacementMetrics
	// Queued counts, by group, what is wanted and was not placed.
	Queued map[string]int

	// ClassEligibility tells, by computed node class, whether a node of it could
	// take what was not placed; Escaped that any node could, because a
	// constraint looks at something unique.
	ClassEligibility map[string]bool
	Escaped          bool
}

// IsWhole reports whether everything was placed.
func (o *Outcome) IsWhole() bool { return len(o.Queued) == 0 }
