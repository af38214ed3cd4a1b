// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"
	"time"
)

// Instance states.
const (
	InstanceUnclaimed = "UNCLAIMED" // should run, and no live allocation holds it
	InstanceClaimed   = "CLAIMED"   // placed on a node, not up yet
	InstanceRunning   = "RUNNING"   // up
	InstanceCrashed   = "CRASHED"   // its last allocation failed
)

// An Instance is one of the places of a group, derived from its allocations.
type Instance struct {
	Namespace  string
	JobID      string
	Name       string // group-index
	Group      string
	Index      int
	State      string // one of the Instance constants
	Paused     bool   // its tasks are held by an operator
	Message    string `json:",omitempty"` // why it is not RUNNING
	Allocation string `json:",omitempty"` // id of the one that holds it
	NodeID     string `json:",omitempty"`
	NodeName   string `json:",omitempty"`
	JobVersion uint64
	TaskStates map[string]*TaskState `json:",omitempty"`
	Plan       string                `json:",omitempty"` // that works on it, ...
	Step       string                `json:",omitempty"` // ... and the step of it that does
	Since      time.Time             `json:",omitzero"`
	Until      time.Time             `json:",omitzero"` // when the step goes on, if it is DELAYED
}

// InstanceName is the name of a group's instance within its job.
func InstanceName(group string, index int) string { return group + "-" + strconv.Itoa(index) }

// InstanceRequest is the optional body of a verb on an instance.
type InstanceRequest struct {
	Tasks  []string `json:",omitempty"` // pause, resume and restart: none means all
	By     string   `json:",omitempty"`
	Reason string   `json:",omitempty"`
}

// InstanceResponse is the answer to a verb on an instance.
type InstanceResponse struct {
	Instance string   // group-index
	Tasks    []string // that it is about
	Decision *Decision
	EvalID   string `json:",omitempty"`
	Index    uint64
}
