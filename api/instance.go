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
	InstanceComplete  = "COMPLETE"  // it has done its work: of a job that runs to completion
)

// Values of Instance.Presence.
const (
	PresenceOrdinary   = "ordinary"
	PresenceEvacuating = "evacuating" // its node is drained; it goes on until another one is in its place
	PresenceSuspect    = "suspect"    // its node is not heard of; it may run
)

// An Instance is one of the places of a group, derived from its allocations. A
// place may have several rows: what leaves it, evacuating or suspect, stands
// beside what comes.
type Instance struct {
	Namespace  string
	JobID      string
	Domain     string `json:",omitempty"` // of the job
	Name       string // group-index
	Group      string
	Index      int
	State      string // one of the Instance constants
	Presence   string // one of the Presence constants
	Canary     bool   `json:",omitempty"` // it stands beside the instance of the same name, until it is promoted
	Orphan     bool   `json:",omitempty"` // no registered job is known to want it
	Routable   bool   // traffic may come
	Paused     bool   // its tasks are held by an operator
	Message    string `json:",omitempty"` // why it is not RUNNING, or not Routable
	Allocation string `json:",omitempty"` // id of the one that holds it: the instance's own id
	NodeID     string `json:",omitempty"`
	NodeName   string `json:",omitempty"`
	Zone       string `json:",omitempty"` // of the node
	JobVersion uint64
	// Address is the node's address of the ports. Both are known once it is RUNNING.
	Address         string                `json:",omitempty"`
	InstanceAddress string                `json:",omitempty"` // in its own network, if it has one
	Ports           []InstancePort        `json:",omitempty"`
	MetricTags      map[string]string     `json:",omitempty"` // resolved
	TaskStates      map[string]*TaskState `json:",omitempty"`
	Plan            string                `json:",omitempty"` // that works on it, ...
	Step            string                `json:",omitempty"` // ... and the step of it that does
	Until           time.Time             `json:",omitzero"`  // when the step goes on, if it is DELAYED
	// PlacementError says why there was no room for it yet. Only if it is UNCLAIMED.
	PlacementError string    `json:",omitempty"`
	CrashCount     int       // since it was last well for long enough
	CrashReason    string    `json:",omitempty"` // of the last crash, in words
	NextAttempt    time.Time `json:",omitzero"`  // if it is CRASHED: when it is tried again; zero: never
	// Since is when it came to be what State and Routable say, to the nanosecond.
	Since           time.Time `json:",omitzero"`
	ModificationTag ModificationTag
}

// A ModificationTag orders what is said of an instance: with the same Epoch, the
// larger Index is newer; another Epoch is another allocation.
type ModificationTag struct {
	Epoch string // the allocation's id; "" while there is none
	Index uint64 // log index
}

// InstancePort is a port of an instance.
type InstancePort struct {
	Label         string
	ContainerPort int // that its task listens on
	HostPort      int // that its node is reached at
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

// FindInstances returns the instances that a name means: group-index, group@node,
// or, if all are of one group, the bare index.
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

// KillInstanceResponse is the answer to killing an instance. What it was is in
// Killed; what comes in its place has another allocation.
type KillInstanceResponse struct {
	Killed *Instance
	EvalID string
	Index  uint64
}
