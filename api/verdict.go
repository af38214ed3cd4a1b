// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// A Verdict is what a sweep decided about a stack, with its reason.
type Verdict struct {
	Kept   bool
	Policy string        // that decided; "": none applies to the stack's status
	Reason VerdictReason // why
	// Callers are the first of the stack's callers by name, as stack names; CallerCount is
	// the number of all.
	Callers     []string `json:",omitempty"`
	CallerCount int      `json:",omitempty"`
	// Subject is what the reason is about, such as a tag, a host name or another stack.
	Subject string    `json:",omitempty"`
	Before  time.Time `json:",omitzero"` // expiry before the decision; zero: none
	After   time.Time `json:",omitzero"` // expiry after it
	At      time.Time
}

// A VerdictReason says why a sweep kept a stack or let its time run.
type VerdictReason string

// Reasons to keep a stack.
const (
	KeptHeld       VerdictReason = "held"       // an operator holds it
	KeptCalled     VerdictReason = "called"     // its callers declare that they depend on it
	KeptShift      VerdictReason = "shift"      // a running shift needs both of its stacks
	KeptExposed    VerdictReason = "exposed"    // it receives the traffic of the host name Subject
	KeptTagged     VerdictReason = "tagged"     // it has the tag Subject
	KeptObserved   VerdictReason = "observed"   // Subject, which declares nothing, sends requests to it
	KeptIdle       VerdictReason = "idle"       // it is the target of its major version, and was called recently enough
	KeptLatest     VerdictReason = "latest"     // it is among the newest versions
	KeptCurrent    VerdictReason = "current"    // its feature version is not deprecated
	KeptAlways     VerdictReason = "always"     // its policy keeps every stack
	KeptStale      VerdictReason = "stale"      // the domain Subject is stale: callers may be unknown
	KeptUnfinished VerdictReason = "unfinished" // it is not ready yet
)

// Reasons to decline a stack: its time runs until After.
const (
	DeclinedUncalled   VerdictReason = "uncalled"   // it has no caller
	DeclinedOutdated   VerdictReason = "outdated"   // newer versions replace it
	DeclinedDeprecated VerdictReason = "deprecated" // its feature version is deprecated
	DeclinedCrowded    VerdictReason = "crowded"    // its unit has more stacks than max_stacks
	DeclinedLate       VerdictReason = "late"       // it was not ready at its deadline
	DeclinedGarbage    VerdictReason = "garbage"    // it is garbage, and removed at After
	DeclinedFailed     VerdictReason = "failed"     // it has failed, and is removed at After
)

// A LifecycleSweep records the last sweep of stacks.
type LifecycleSweep struct {
	Time time.Time
	// Stale lists the namespaces whose stacks the sweep could not judge, because a domain
	// in or below them was stale.
	Stale       []string `json:",omitempty"`
	CreateIndex uint64
	ModifyIndex uint64
}

// StatusReason returns the reason of the status that a declined stack receives; 0: the verdict changes no status.
func (r VerdictReason) StatusReason() Reason {
	switch r {
	case DeclinedUncalled:
		return ReasonStackUncalled
	case DeclinedOutdated:
		return ReasonStackOutdated
	case DeclinedDeprecated:
		return ReasonStackVersionDeprecated
	case DeclinedCrowded:
		return ReasonStackCrowded
	case DeclinedLate:
		return ReasonStackLate
	}
	return 0
}
