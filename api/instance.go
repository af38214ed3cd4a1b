// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"
	"time"
)

// Instance states.
const (
	InstanceUnclaimed = "UNCLAIMED" // should run, but no live allocation holds it
	InstanceClaimed   = "CLAIMED"   // placed on a node, not up yet
	InstanceRunning   = "RUNNING"   // up
	InstanceCrashed   = "CRASHED"   // its last allocation failed
	InstanceComplete  = "COMPLETE"  // finished its work; only in jobs that run to completion
)

// Values of Instance.Presence.
const (
	PresenceOrdinary   = "ordinary"
	PresenceEvacuating = "evacuating" // its node is draining; it runs until its replacement is in place
	PresenceSuspect    = "suspect"    // its node is silent; it may still run
)

// An Instance is one of a group's instances, derived from its allocations. It may have
// several rows: an evacuating or suspect one and its replacement.
type Instance struct {
	Namespace  string
	JobID      string
	Domain     string `json:",omitempty"` // domain of the job
	Name       string // group-index
	Group      string
	Index      int
	State      string // one of the Instance constants
	Presence   string // one of the Presence constants
	Canary     bool   `json:",omitempty"` // reports whether it is a canary, beside the instance of the same name until it is promoted
	Orphan     bool   `json:",omitempty"` // reports whether it has no registered job
	Routable   bool   // reports whether it may receive traffic
	Paused     bool   // reports whether an operator paused its tasks
	Message    string `json:",omitempty"` // reason why it is not RUNNING, or not Routable
	Allocation string `json:",omitempty"` // id of its allocation, which is the instance's id
	NodeID     string `json:",omitempty"`
	NodeName   string `json:",omitempty"`
	Zone       string `json:",omitempty"` // zone of the node
	JobVersion uint64
	// Address is the node's address for the ports. Both are known once it is RUNNING.
	Address         string                `json:",omitempty"`
	InstanceAddress string                `json:",omitempty"` // address in its own network, if it has one
	Ports           []InstancePort        `json:",omitempty"`
	MetricTags      map[string]string     `json:",omitempty"` // with resolved values
	TaskStates      map[string]*TaskState `json:",omitempty"`
	Plan            string                `json:",omitempty"` // plan that works on it, ...
	Step            string                `json:",omitempty"` // ... and the step of that plan
	Until           time.Time             `json:",omitzero"`  // time at which a DELAYED step continues
	// PlacementError is the reason why it was not placed yet. Only if it is UNCLAIMED.
	PlacementError string    `json:",omitempty"`
	CrashCount     int       // number of crashes since it was last healthy for long enough
	CrashReason    string    `json:",omitempty"` // reason of the last crash, in words
	NextAttempt    time.Time `json:",omitzero"`  // if it is CRASHED: time of the next attempt; zero: none
	// Since is the time at which State and Routable last changed, to the nanosecond.
	Since           time.Time `json:",omitzero"`
	ModificationTag ModificationTag
}

// A ModificationTag orders the states of an instance. With equal Epochs, the larger Index
// is newer; another Epoch is another allocation.
type ModificationTag struct {
	Epoch string // the allocation's id; "" without one
	Index uint64 // log index
}

// InstancePort is a port of an instance.
type InstancePort struct {
	Label         string
	ContainerPort int // port on which its task listens
	HostPort      int // port on its node
}

// InstanceName returns the name of a group's instance within its job.
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
	Tasks    []string // tasks affected
	Decision *Decision
	EvalID   string `json:",omitempty"`
	Index    uint64
}

// FindInstances returns the instances with that name: group-index, group@node, or the bare
// index if all belong to one group.
func FindInstances(all []*Instance, name string) (found []*Instance) {
	oneGroup := true
	for _, in := range all {
		oneGroup = oneGroup && in.Group == all[0].Group
	}
	for _, in := range all {
		if in.Name == name || in.NodeID != "" && in.Group+"@"+in.NodeID == name || oneGroup && strconv.Itoa(in.Index) == name {
			found = append(found, in)
		}
	}
	return found
}

// KillInstanceResponse is the answer to killing an instance. Killed describes the killed
// instance; its replacement has another allocation.
type KillInstanceResponse struct {
	Killed *Instance
	EvalID string
	Index  uint64
}
