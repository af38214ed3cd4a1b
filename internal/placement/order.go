// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/quota"
)

// A Request asks for one instance to be placed. Requests that differ only in name, index
// and previous allocation are placed in one pass.
type Request struct {
	Job        *api.Job // job version of the new allocation
	Group      *api.Group
	Name       string // job.group[index]
	Index      int
	Deployment string // id of the allocation's deployment, or ""
	Canary     bool

	// NodeID pins the request to this node, as for instances of system jobs. "" allows any
	// node.
	NodeID string

	// Previous is the allocation that the new one replaces, or nil if the index never had
	// one. Tracker continues its history.
	Previous *api.Allocation
	Tracker  *api.RescheduleTracker
	// Recovery and Launches are copied to the new allocation.
	Recovery string
	Launches *api.Launches
	// Penalised lists nodes on which the instance failed. Placement avoids them if another
	// node is feasible.
	Penalised []string

	// Replaces is the allocation to stop if, and only if, the request is placed (or waits
	// for the room of the allocation that it replaces). Nil if none.
	Replaces *Stop
}

// A Stop is an allocation to stop.
type Stop struct {
	Alloc        *api.Allocation
	Reason       api.Reason
	Description  string // sentence of the reason
	ClientStatus string // api.AllocClientLost if its node was removed; else ""
}

// An Order holds all placement requests of one evaluation.
type Order struct {
	EvalID    string
	Namespace string
	JobID     string
	AllAtOnce bool // place every request or none

	Requests []*Request
	// Kept lists the job's other allocations, which continue to run. They count for
	// anti-affinity, distinct hosts, distinct properties and spread.
	Kept []*api.Allocation

	Claims map[ClaimKey]Claimed // volumes that instances of the job keep

	Policy Policy // settings of the cluster and the job's pool
	// Budget holds the rest of the quotas of the namespace; nil: unlimited. Place takes from it.
	Budget *quota.Budget
	// Counts reports whether a stored allocation is part of the usage on which the budget is based;
	// nil: all that are to run are.
	Counts func(id string) bool

	Now   int64         // Unix nanoseconds; creation and modification time of the allocations
	NewID func() string // generates allocation ids; nil outside of tests
	Seed  uint64        // breaks ties and selects the first port to try
}

// A Policy holds the cluster's placement settings, which apply to every job. The zero
// value packs nodes and preempts nothing.
type Policy struct {
	Algorithm string // api.AlgorithmBinpack ("" too) or api.AlgorithmSpread
	// ZoneAttribute is the attribute over which services without their own spread are
	// spread evenly; "" for none.
	ZoneAttribute string
	// MaxStarting is the maximum number of starting allocations per node; 0 for no limit.
	MaxStarting int
	// MemoryOversubscription lets tasks use up to their memory_max.
	MemoryOversubscription bool
	// Held lists the allocations on a node, to select allocations to preempt for requests
	// without room. Nil disables preemption.
	Held func(nodeID string) iter.Seq[*api.Allocation]
}

// An Outcome is the result of an Order.
type Outcome struct {
	Place []*api.Allocation
	// Stop lists the allocations that placed and waiting requests replace.
	Stop []*Stop
	// Preempt lists the allocations whose room the placed requests need.
	Preempt []Preemption
	// Waiting counts, by group, the requests that have room as soon as their predecessor
	// ends. The predecessor is being stopped, now or since an earlier order. Queued
	// includes these requests, but they have not failed.
	Waiting map[string]int
	// Failed explains, by group, why requests could not be placed.
	Failed map[string]*api.PlacementMetrics
	// Queued counts, by group, the requests that were not placed.
	Queued map[string]int

	// ClassEligibility reports, by computed node class, whether a node of the class could
	// take the unplaced requests. Escaped reports that any node could, because a
	// constraint reads an attribute that is unique to a node.
	ClassEligibility map[string]bool
	Escaped          bool

	// Quota names a quota that refused requests; "": none did. Room reports whether requests found
	// no node.
	Quota string
	Room  bool
}

// IsWhole reports whether every request was placed.
func (o *Outcome) IsWhole() bool { return len(o.Queued) == 0 }
