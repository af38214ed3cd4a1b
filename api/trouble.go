// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"
	"time"
)

// A TroubleKind classifies a trouble.
type TroubleKind string

// Kinds of troubles.
const (
	TroubleNoRoom       TroubleKind = "no_room"       // no node can take the instance
	TroubleSetup        TroubleKind = "setup_failed"  // its node cannot prepare the task: directories, user, driver
	TroubleStart        TroubleKind = "start_failed"  // the driver cannot start the task: no such command, not executable
	TroubleTemplate     TroubleKind = "template"      // a template of the task waits for a value before the task starts
	TroubleSecret       TroubleKind = "secret"        // a secret of the task waits for a value before the task starts
	TroubleExited       TroubleKind = "exited"        // the task ended by itself
	TroubleKilled       TroubleKind = "killed"        // a signal ended the task
	TroubleTimeout      TroubleKind = "timed_out"     // the task ran longer than its timeout
	TroubleOutOfMemory  TroubleKind = "out_of_memory" // the kernel killed the task for its memory use
	TroubleCheckFailed  TroubleKind = "check_failed"  // a check receives a wrong answer
	TroubleCheckTimeout TroubleKind = "check_timeout" // a check receives no answer in time
	TroubleCheckRefused TroubleKind = "check_refused" // no process listens where a check connects
	TroubleWrongAddress TroubleKind = "wrong_address" // the port's listener is at another address than the checked one
	TroublePortTaken    TroubleKind = "port_taken"    // a process outside of the task listens on its port
	TroubleUnhealthy    TroubleKind = "unhealthy"     // it did not become healthy in time
	TroubleNodeSilent   TroubleKind = "node_silent"   // its node is down, or out of reach
)

// A Trouble is a current problem of an instance of a job. Instances of a group with the same
// trouble share one Trouble; its details concern the lowest index.
type Trouble struct {
	Kind TroubleKind
	// Message describes the problem in one sentence without a full stop.
	Message    string
	Group      string
	Instance   string // group-index
	Instances  int    // number of instances that have it, including this one
	JobVersion uint64 // job version that the instance has or is to have
	Allocation string `json:",omitempty"` // id of the allocation on which it was observed, which may have ended
	NodeID     string `json:",omitempty"`
	NodeName   string `json:",omitempty"`
	Task       string `json:",omitempty"`

	Service    string `json:",omitempty"` // service of the check
	Check      string `json:",omitempty"`
	Answer     string `json:",omitempty"` // answer to the check, or why it received none; at most CheckAnswerMax bytes
	StatusCode int    `json:",omitempty"` // HTTP status of the answer

	ExitCode int `json:",omitempty"` // exit code of the task or of a check's script
	Signal   int `json:",omitempty"`

	// Obstacles are the reasons why nodes cannot take the instance, most nodes first.
	Obstacles []ObstacleCount `json:",omitempty"`

	Count       int       `json:",omitempty"` // consecutive failed attempts, if it is an event
	At          time.Time `json:",omitzero"`  // when it last happened, or began
	NextAttempt time.Time `json:",omitzero"`  // time of the next attempt, if known
	Final       bool      `json:",omitempty"` // the policy allows no further attempt
	// Log is the log of Task with more information: LogStderr; "" if no log has any.
	Log string `json:",omitempty"`
}

// CheckAnswerMax bounds Trouble.Answer and CheckFailure.Answer, in bytes.
const CheckAnswerMax = 512

// String formats the trouble as a line: the instance, the number of others that have it, and
// the message.
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

// A CheckFailure is a failing check of an allocation, as reported by its node. It is constant
// while the check fails in the same way.
type CheckFailure struct {
	Kind    TroubleKind
	Service string `json:",omitempty"` // "" for a task's monitor
	Check   string `json:",omitempty"`
	Task    string `json:",omitempty"` // task of the check; "" for a group's service
	Answer  string // answer to the probe, or why it received none
	Since   int64  // Unix nanoseconds
	// StatusCode is the HTTP status of the answer, ExitCode that of a script.
	StatusCode int `json:",omitempty"`
	ExitCode   int `json:",omitempty"`
}
