// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"
	"time"
)

// A TroubleKind is what goes wrong.
type TroubleKind string

// Kinds of troubles.
const (
	TroubleNoRoom       TroubleKind = "no_room"       // no node can take the instance
	TroubleSetup        TroubleKind = "setup_failed"  // its node cannot prepare the task: directories, user, driver
	TroubleStart        TroubleKind = "start_failed"  // the driver cannot start the task: no such command, not executable
	TroubleExited       TroubleKind = "exited"        // the task ended by itself
	TroubleKilled       TroubleKind = "killed"        // a signal ended the task
	TroubleTimeout      TroubleKind = "timed_out"     // the task ran longer than its timeout
	TroubleOutOfMemory  TroubleKind = "out_of_memory" // the kernel killed the task for its memory
	TroubleCheckFailed  TroubleKind = "check_failed"  // a check gets an answer, and a wrong one
	TroubleCheckTimeout TroubleKind = "check_timeout" // a check gets no answer in time
	TroubleCheckRefused TroubleKind = "check_refused" // nothing listens where a check connects
	TroubleWrongAddress TroubleKind = "wrong_address" // the port has a listener, at another address than the one checked
	TroublePortTaken    TroubleKind = "port_taken"    // a process that is not the task's listens on its port
	TroubleUnhealthy    TroubleKind = "unhealthy"     // it did not become healthy in time
	TroubleNodeSilent   TroubleKind = "node_silent"   // its node is down, or out of reach
)

// A Trouble is one thing that keeps an instance of a job from being as it
// should be, now. Instances of a group that have the same trouble share one
// Trouble; what it says of a single instance is about the lowest index.
type Trouble struct {
	Kind TroubleKind
	// Message says what goes wrong, in one sentence without a full stop.
	Message    string
	Group      string
	Instance   string // group-index
	Instances  int    // that have it, this one included
	JobVersion uint64 // that the instance has, or is to have
	Allocation string `json:",omitempty"` // id of the one that it was seen on, which may have ended
	NodeID     string `json:",omitempty"`
	NodeName   string `json:",omitempty"`
	Task       string `json:",omitempty"`

	Service    string `json:",omitempty"` // of a check
	Check      string `json:",omitempty"`
	Answer     string `json:",omitempty"` // that the check got, or why it got none; at most CheckAnswerMax bytes
	StatusCode int    `json:",omitempty"` // HTTP status of the answer

	ExitCode int `json:",omitempty"` // of the task, or of a check's script
	Signal   int `json:",omitempty"`

	// Obstacles are what keeps nodes from taking the instance, most nodes first.
	Obstacles []ObstacleCount `json:",omitempty"`

	Count       int       `json:",omitempty"` // how often in a row it happened, where it is an event: attempts that failed
	At          time.Time `json:",omitzero"`  // when it happened last, or began
	NextAttempt time.Time `json:",omitzero"`  // when it is tried again, if that is known
	Final       bool      `json:",omitempty"` // the policy allows no further attempt
	// Log is the log of Task in which to read more: LogStderr; "" if none says more.
	Log string `json:",omitempty"`
}

// CheckAnswerMax bounds Trouble.Answer and CheckFailure.Answer, in bytes.
const CheckAnswerMax = 512

// String is the trouble as a line: the instance, how many others have it, and
// what it is.
func (p *Trouble) String() string {
	who := p.Instance
	switch {
	case p.Instances == 2:
		who += " and another"
	case p.Instances > 2:
		who += " and " + strconv.Itoa(p.Instances-1) + " others"
	}
	return who + ": " + p.Message
}

// A CheckFailure is a check of an allocation that fails, as its node says. What
// it says stays as it is while the check fails in the same way.
type CheckFailure struct {
	Kind    TroubleKind
	Service string `json:",omitempty"` // "" for a task's monitor
	Check   string `json:",omitempty"`
	Task    string `json:",omitempty"` // whose check it is; "" for a group's service
	Answer  string // that the probe got, or why it got none
	Since   int64  // Unix nanoseconds
	// StatusCode is the HTTP status that it got, ExitCode that of a script.
	StatusCode int `json:",omitempty"`
	ExitCode   int `json:",omitempty"`
}
