// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// DeployStacksRequest deploys stacks: one, or several that may depend on each other.
type DeployStacksRequest struct {
	Jobs []*Job // each with a stack block; the id of a job is the name of its unit
	// From names earlier stacks, whose submitted jobs are deployed too: UNIT@VERSION or the
	// name of a stack, after NAMESPACE: if that is another one. They follow those of Jobs.
	From     []string `json:",omitempty"`
	Redeploy bool     // deploys a version again that a live stack already has
	By       string
}

// DeployStacksResponse lists the stacks of the request's jobs, in the order of the request.
type DeployStacksResponse struct {
	Stacks   []*StackStatus
	Existing []bool   // reports for each whether a live stack had the version and content already
	Warnings string   // of all jobs
	Order    []string // names of the new stacks in the order of their deployment
	Index    uint64
}

// StackStatus is a stack with its derived status.
type StackStatus struct {
	*Stack
	// Shown is the status as users see it: a ready stack of a deprecated version is deprecated.
	Shown    string
	Standing string   // why it has the status now, as a sentence
	Share    float64  // of its major version's traffic, from 0 to 1
	Target   bool     // reports whether it is the target of its major version
	Callers  []string // stacks, host names, tags and addresses that use it
	Why      string   // the last verdict as a sentence
	// Trouble is the main problem of its instances while it deploys or warms, as a short phrase; "": none.
	Trouble  string `json:",omitempty"`
	ShiftID  string `json:",omitempty"` // running shift that it is an end of
	JobState string `json:",omitempty"` // status of its job
	// Warm is the sum of the warm-ups of its running instances; nil without a warm block, and
	// before the first has begun.
	Warm *WarmProgress `json:",omitempty"`
}

// StackVerbRequest changes one stack.
type StackVerbRequest struct {
	By     string
	Reason string
	For    time.Duration // hold: 0 is without limit; extend and rescue: 0 is the default
	Now    bool          // stop: without the grace
}

// StackResponse answers a change of a stack.
type StackResponse struct {
	Stack *StackStatus
	// Warnings name what used a stack that was stopped, and what serves it now.
	Warnings []string `json:",omitempty"`
	Index    uint64
}

// UnitVerbRequest changes the rules of a unit.
type UnitVerbRequest struct {
	By            string
	Reason        string
	Version       string // deprecate, undeprecate: major.minor; tag: major.minor.patch, "" removes the tag
	Tag           string
	Policy        *RetentionPolicy // policy; nil: each stack has its own again
	AllNamespaces bool
}

// UnitStatus is a unit with its stacks.
type UnitStatus struct {
	Namespace string
	Name      string
	Rules     *Unit          `json:",omitempty"`
	Global    *Unit          `json:",omitempty"` // rules for all namespaces
	Stacks    []*StackStatus // newest version first
	Shifts    []*Shift       `json:",omitempty"` // running ones
}

// UnitResponse answers a change of a unit's rules.
type UnitResponse struct {
	Unit  *UnitStatus
	Index uint64
}

// ShiftRequest begins a shift of a unit's traffic to one of its ready stacks.
type ShiftRequest struct {
	To        string     // name or version of a ready stack
	Spec      *ShiftSpec `json:",omitempty"` // nil: that of the stack
	Supersede bool       // reverses a running shift immediately
	By        string
}

// ShiftVerbRequest changes a shift.
type ShiftVerbRequest struct {
	By     string
	Reason string
	Share  *float64 `json:",omitempty"` // set: the new share, from 0 to 1
	Now    bool     // reverse: immediately
}

// ShiftResponse answers a change of a shift.
type ShiftResponse struct {
	Shift *Shift
	Index uint64
}

// StackGraph shows what uses what.
type StackGraph struct {
	Nodes []*StackStatus
	Edges []StackEdge
}

// A StackEdge says that something uses a stack.
type StackEdge struct {
	From      string // name of a stack, a host name, an address or a tag
	Namespace string // of To
	To        string // name of a stack
	Want      string `json:",omitempty"` // feature version that the caller declares
	Share     float64
	Kind      string // declared, exposed, observed or tag
}

// SweepResponse lists what a sweep decides.
type SweepResponse struct {
	DryRun    bool
	Decisions []SweepDecision
	Index     uint64
}

// A SweepDecision is the outcome of a sweep for one stack.
type SweepDecision struct {
	Namespace string
	Stack     string
	Verdict   Verdict
	Why       string // the verdict as a sentence
	Action    string `json:",omitempty"` // new status, or "removed"; "": none
}
