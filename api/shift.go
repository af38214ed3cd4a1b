// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"maps"
	"time"
)

// Policies of a shift.
const (
	ShiftLinear = "linear" // the share grows evenly over the shift's time
	ShiftAtomic = "atomic" // all traffic moves at the end of the shift's time
	ShiftSteps  = "steps"  // the share follows a list of steps
	ShiftNone   = "none"   // the share stays 0 until an operator shifts
)

// Statuses of a shift.
const (
	ShiftRunning    = "running"
	ShiftPaused     = "paused"    // an operator paused it
	ShiftWaiting    = "waiting"   // a step or inconclusive checks wait for an operator
	ShiftReversing  = "reversing" // traffic returns to the older stack
	ShiftComplete   = "complete"  // all traffic is on the stack To
	ShiftReversed   = "reversed"  // all traffic is on the stack From again
	ShiftSuperseded = "superseded"
)

// Values of ShiftSpec.AfterFailure: the reaction to failed checks.
const (
	AfterFailureReverse = "reverse"
	AfterFailureHold    = "hold"
)

// A ShiftSpec says how traffic moves to a new stack of a unit.
type ShiftSpec struct {
	Policy       string        `json:",omitempty"` // one of the Shift policies; "": linear
	Over         time.Duration `json:",omitempty"` // 0: DefaultShiftOver
	Steps        []string      `json:",omitempty"` // "25%", "5m" or "wait"
	AfterFailure string        `json:",omitempty"` // "": reverse
	Checks       []*ShiftCheck `json:",omitempty"`
	MinRequests  int           `json:",omitempty"` // of the new stack in an interval; fewer are inconclusive
	Interval     time.Duration `json:",omitempty"` // of checks; 0: DefaultShiftInterval
	Failures     int           `json:",omitempty"` // consecutive failures of a check that fail the shift; 0: 2
}

// Defaults of a shift.
const (
	DefaultShiftOver     = 20 * time.Minute
	DefaultShiftInterval = 30 * time.Second
	DefaultShiftFailures = 2
	DefaultMinRequests   = 100
)

// A ShiftStep is one parsed step of the policy steps: exactly one field is set.
type ShiftStep struct {
	Share *float64      `json:",omitempty"` // sets the share, from 0 to 1
	Pause time.Duration `json:",omitempty"` // waits for a time
	Wait  bool          `json:",omitempty"` // waits for an operator
}

// A ShiftCheck compares the new stack with the old one, or asks an address.
type ShiftCheck struct {
	Name   string
	Metric string `json:",omitempty"` // http_5xx (a ratio) or http_p99 (seconds)
	Max    string `json:",omitempty"` // upper bound of the new stack, such as "1%" or "200ms"
	Than   string `json:",omitempty"` // upper bound relative to the old stack, such as "from+0.5%" or "from*1.5"
	HTTP   string `json:",omitempty"` // address to ask: 200 passes, 4xx fails, everything else is unknown
	// Interval is the time between two requests to HTTP; 0: that of the shift's checks.
	Interval time.Duration `json:",omitempty"`
}

// A Shift moves the traffic of a unit's major version from one stack to another. Its
// progress is stored, so that it continues where it was under a new leader.
type Shift struct {
	ID        string
	Namespace string
	Unit      string
	Major     uint32
	From, To  string // names of stacks
	Spec      ShiftSpec
	Steps     []ShiftStep `json:",omitempty"` // those of Spec

	Status string // one of the Shift statuses
	Reason string // why it has the status; a sentence
	// ChangedBy is the operator whose verb gave it the status; "": Reeve.
	ChangedBy string  `json:",omitempty"`
	Share     float64 // of the stack To, from 0 to 1 in steps of 0.0001; From has the rest
	// Held reports that the share stands still because the stack To cannot take traffic.
	Held bool `json:",omitempty"`
	// Elapsed is the time that the shift has progressed, without pauses and times
	// without a leader.
	Elapsed time.Duration
	Step    int           `json:",omitempty"` // of the policy steps: the next one
	StepFor time.Duration `json:",omitempty"` // Elapsed when that step began
	// ReverseFrom is the share when the reversal began, and ReverseOver its duration.
	ReverseFrom  float64        `json:",omitempty"`
	ReverseOver  time.Duration  `json:",omitempty"`
	Failures     map[string]int `json:",omitempty"` // consecutive failures by check
	Inconclusive int            `json:",omitempty"` // consecutive inconclusive intervals; below 0: intervals that do not stop the share
	CheckedAt    time.Time      `json:",omitzero"`  // end of the last interval of checks
	// AdvancedAt is the last time that a leader advanced the shift: time without a leader does
	// not count as progress.
	AdvancedAt time.Time

	By          string `json:",omitempty"` // who started it; "": the deployment of To
	StartedAt   time.Time
	EndedAt     time.Time `json:",omitzero"`
	CreateIndex uint64
	ModifyIndex uint64

	// Traffic holds the figures of the last seconds in answers to readers; it is not stored.
	Traffic *ShiftTraffic `json:",omitempty"`
}

// IsActive reports whether the shift has not ended.
func (s *Shift) IsActive() bool {
	switch s.Status {
	case ShiftRunning, ShiftPaused, ShiftWaiting, ShiftReversing:
		return true
	}
	return false
}

// Copy returns a copy whose fields may be set. Spec is shared.
func (s *Shift) Copy() *Shift {
	c := *s
	c.Failures = maps.Clone(s.Failures)
	return &c
}
