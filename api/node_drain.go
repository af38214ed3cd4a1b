// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// NodeDrainRequest begins, changes or ends a node's drain.
type NodeDrainRequest struct {
	NodeID       string
	DrainSpec    *DrainSpec        // nil ends the drain
	MarkEligible bool              // new allocations may be placed there again; read only when DrainSpec is nil
	Meta         map[string]string // kept with the record of the drain
}

// NodeDrainResponse says when that was written.
type NodeDrainResponse struct {
	NodeModifyIndex uint64
	EvalIDs         []string
	EvalCreateIndex uint64
	Index           uint64
}

// NodePurgeResponse says which evaluations replace what a removed node held.
type NodePurgeResponse struct {
	EvalIDs         []string
	EvalCreateIndex uint64
	NodeModifyIndex uint64
	Index           uint64
}

// NodeEvaluateResponse names the evaluations of the jobs that a node matters
// for; EvalID is one of them.
type NodeEvaluateResponse struct {
	EvalID          string
	EvalIDs         []string
	EvalCreateIndex uint64
	NodeModifyIndex uint64
	Index           uint64
}

// What a drain does with an allocation.
const (
	DrainWaiting  = "waiting"  // it runs on until something else has happened
	DrainMoving   = "moving"   // its replacement is being placed
	DrainStopping = "stopping" // it was told to stop
)

// NodeDrainStatus tells how far a node's drain is.
type NodeDrainStatus struct {
	NodeID        string
	DrainStrategy *DrainStrategy // nil: the node is not drained
	LastDrain     *DrainRecord
	Allocations   []*DrainingAllocation // that have to leave and have not ended
	Ignored       int                   // allocations that stay, as the drain says
	Gone          int                   // allocations that have ended since the drain began
}

// DrainingAllocation is an allocation that has to leave a node.
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
	Description   string            // what it waits for, in words
	Replacement   *DrainReplacement // nil: none is placed yet
}

// DrainReplacement is what takes over from an allocation that leaves a node.
type DrainReplacement struct {
	ID           string
	NodeID       string
	NodeName     string
	ClientStatus string
	Healthy      *bool
}
