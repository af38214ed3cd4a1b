// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"
	"time"
)

// Statuses of a stack. StackDeprecated is derived: a ready stack whose feature version is
// deprecated has it. All others are stored.
const (
	StackPending    = "pending"    // waits for its turn to deploy
	StackDeploying  = "deploying"  // its first deployment runs
	StackWarming    = "warming"    // runs, and waits for health, warm-up traffic and its turn
	StackReady      = "ready"      // may receive traffic
	StackDeprecated = "deprecated" // ready, but new dependencies on it are refused
	StackGarbage    = "garbage"    // runs without traffic until its grace ends; can be rescued
	StackFailed     = "failed"     // did not become ready; removed after a short grace
	StackTerminated = "terminated" // stopped and removed
)

// A Stack is one deployed version of a unit: one immutable job that lives beside other
// versions of the unit until no policy keeps it.
type Stack struct {
	ID        string
	Name      string // UNIT--MAJOR-MINOR-PATCH--HASH; also the id of its job
	Namespace string
	Unit      string
	Version   StackVersion
	Spec      *StackSpec
	Shape     string // one of the Shape constants
	Digest    string // of the submitted job, to recognize a repeated deployment

	Status       string // one of the stored Stack constants
	StatusReason Reason `json:",omitempty"` // why it has the status
	// StatusDescription completes the sentence of StatusReason, or is the operator's reason; "": StatusText
	// returns the sentence of the reason.
	StatusDescription string `json:",omitempty"`
	StatusBy          string `json:",omitempty"` // operator who gave it the status; "": Reeve
	// StatusBefore is the status before StackGarbage, which a rescue restores.
	StatusBefore string    `json:",omitempty"`
	StatusSince  time.Time // start of the status
	DeployedAt   time.Time
	RunningAt    time.Time `json:",omitzero"` // end of its first deployment

	Removing bool `json:",omitempty"` // its job is being purged
	// RemovalWaits is the time since which the removal waits for nodes that do not answer;
	// zero: it does not.
	RemovalWaits time.Time   `json:",omitzero"`
	Expires      time.Time   `json:",omitzero"`  // end of its time; zero: none yet
	CalledAt     time.Time   `json:",omitzero"`  // last sweep that found a caller
	Hold         *StackHold  `json:",omitempty"` // suspends its expiry
	Order        *StackOrder `json:",omitempty"` // last verb of an operator that did not change its status
	Verdict      *Verdict    `json:",omitempty"` // of the last sweep that decided on it
	Address      string      `json:",omitempty"` // host:port of a stack outside of Reeve
	// Observed holds undeclared callers, newest first, as of the sweep that saw the last of them.
	Observed    []StackUse `json:",omitempty"`
	CreateIndex uint64
	ModifyIndex uint64
}

// A StackJob is the submitted job of a stack, from which it is registered and redeployed.
type StackJob struct {
	Namespace   string
	Name        string // of the stack
	Job         *Job
	CreateIndex uint64
	ModifyIndex uint64
}

// Shapes of a stack's job, on which its default policy and its life depend.
const (
	ShapeService       = "service"       // serves traffic on a port
	ShapeWorker        = "worker"        // has no port
	ShapePeriodic      = "periodic"      // starts children at set times
	ShapeParameterized = "parameterized" // starts children on request
	ShapeExternal      = "external"      // runs outside of Reeve; registered by hand
)

// A StackUse is a caller that sends requests to a stack without a declared dependency.
type StackUse struct {
	Caller string    // name of the stack, "job NAME", or address of the caller and its node
	Want   string    `json:",omitempty"` // feature version that the caller named; "": it named the stack
	Last   time.Time // of its requests
}

// A StackHold suspends the expiry of a stack.
type StackHold struct {
	By     string `json:",omitempty"`
	Reason string `json:",omitempty"`
	Since  time.Time
	Until  time.Time `json:",omitzero"` // zero: without limit
}

// A StackOrder is a verb of an operator that changed how long a stack is kept.
type StackOrder struct {
	Verb   string // hold, unhold, extend, expire, or stop of garbage
	By     string
	Reason string `json:",omitempty"`
	Time   time.Time
}

// Key identifies the stack by its namespace and name.
func (s *Stack) Key() NamespacedID { return NamespacedID{Namespace: s.Namespace, ID: s.Name} }

// Copy returns a copy whose fields may be set. Spec, Hold, Order and Verdict are shared: replace them.
func (s *Stack) Copy() *Stack {
	c := *s
	return &c
}

// IsRoutable reports whether the stack may receive traffic.
func (s *Stack) IsRoutable() bool { return s.Status == StackReady }

// IsLive reports whether the stack is on its way to traffic or receives it: pending, deploying,
// warming or ready.
func (s *Stack) IsLive() bool {
	switch s.Status {
	case StackPending, StackDeploying, StackWarming, StackReady:
		return true
	}
	return false
}

// IsHeld reports whether a hold suspends the stack's expiry at a time.
func (s *Stack) IsHeld(now time.Time) bool {
	return s.Hold != nil && (s.Hold.Until.IsZero() || s.Hold.Until.After(now))
}

// stackHashLength is the length of the random end of a stack's name.
const stackHashLength = 8

// StackName returns the name of a stack.
func StackName(unit string, v StackVersion, hash string) string {
	return fmt.Sprintf("%s--%d-%d-%d--%s", unit, v.Major, v.Minor, v.Patch, hash)
}

// ParseStackName splits the name of a stack. It reports false for any other text.
func ParseStackName(name string) (unit string, v StackVersion, hash string, ok bool) {
	parts := strings.Split(name, "--")
	if len(parts) != 3 || ValidateUnitName(parts[0]) != nil || len(parts[2]) != stackHashLength {
		return "", StackVersion{}, "", false
	}
	v, err := ParseStackVersion(strings.ReplaceAll(parts[1], "-", "."))
	return parts[0], v, parts[2], err == nil
}

// maxUnitName bounds a unit's name, so that the name of a stack is a label in DNS.
const maxUnitName = 41

// ValidateUnitName returns an error that describes the name of a unit if it is invalid. It is a label in
// DNS: lower-case letters, digits, and single hyphens inside.
func ValidateUnitName(name string) error {
	valid := name != "" && len(name) <= maxUnitName && name[0] != '-' && name[len(name)-1] != '-' && !strings.Contains(name, "--")
	for i := 0; i < len(name) && valid; i++ {
		c := name[i]
		valid = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-'
	}
	if !valid {
		return fmt.Errorf("unit name %q: must be 1 to %d lower-case letters, digits and single hyphens, with a letter or digit at both ends",
			Printable(name, 64), maxUnitName)
	}
	return nil
}
