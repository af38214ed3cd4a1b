// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// NodeDrainRequest starts, changes or ends a node's drain.
type NodeDrainRequest struct {
	NodeID       string
	DrainSpec    *DrainSpec        // nil ends the drain
	MarkEligible bool              // allow new allocations again; read only if DrainSpec is nil
	Meta         map[string]string // stored with the record of the drain
}

// NodeDrainResponse reports the index of the change.
type NodeDrainResponse struct {
	NodeModifyIndex uint64
	EvalIDs         []string
	EvalCreateIndex uint64
	Index           uint64
}

// NodePurgeResponse names the evaluations that replace the allocations of a removed node.
type NodePurgeResponse struct {
	EvalIDs         []string
	EvalCreateIndex uint64
	NodeModifyIndex uint64
	Index           uint64
}

// NodeEvaluateResponse names the evaluations of the jobs that the node affects. EvalID is
// one of them.
type NodeEvaluateResponse struct {
	EvalID          string
	EvalIDs         []string
	EvalCreateIndex uint64
	NodeModifyIndex uint64
	Index           uint64
}

// States of an allocation in a drain.
const (
	DrainWaiting  = "waiting"  // runs until another event allows it to leave
	DrainMoving   = "moving"   // its replacement is being placed
	DrainStopping = "stopping" // is being stopped
)

// NodeDrainStatus is the progress of a node's drain.
type NodeDrainStatus struct {
	NodeID        string
	DrainStrategy *DrainStrategy // nil: the node is not draining
	LastDrain     *DrainRecord
	Allocations   []*DrainingAllocation // allocations that have to leave and have not ended
	Ignored       int                   // number of allocations that stay, as configured
	Gone          int                   // number of allocations that have ended since the drain began
}

// A DrainingAllocation is an allocation that has to leave a node.
type DrainingAllocation struct {
	ID            string
	Namespace     string
	JobID         string
	JobType       string
	TaskGroup     string
	Name          string
	ClientStatus  string
	DesiredStatus string
	State         string            // one of the Drain constants
	Description   string            // event that it waits for, in words
	Replacement   *DrainReplacement // nil: not placed yet
}

// A DrainReplacement is the allocation that replaces a draining one.
type DrainReplacement struct {
	ID           string
	NodeID       string
	NodeName     string
	ClientStatus string
	Healthy      *bool
}
