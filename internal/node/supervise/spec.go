// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
)

// A Spec is one process to start and keep.
type Spec struct {
	ID   string   // unique on this node; what it is found again by
	Path string   // the executable, absolute; with Isolation, as the task sees it, or a name to look up
	Argv []string // with the name first
	Env  []string // KEY=value, complete
	Dir  string   // working directory; with Isolation, as the task sees it

	// Daemon lets what the process leaves behind, when it ends with 0, go on: that is
	// the task from then on.
	Daemon bool `json:",omitempty"`

	User *User // nil: the supervisor's own
	Logs driver.Logs

	// Limits are enforced by cgroups where the machine has writable ones.
	Limits Limits
	// Isolation gives the process its own namespaces and root; nil: none.
	Isolation *isolate.Spec
}

// User is whom a process runs as, resolved.
type User struct {
	UID, GID uint32
	Groups   []uint32
}

// Limits bound all processes of a task together. Zero is no limit.
type Limits struct {
	CPUShares     int64 // relative weight, in MHz
	MemoryBytes   int64 // hard
	MemoryReserve int64 // soft: what the kernel tries to leave to the task
	Processes     int64
	Cores         string `json:",omitempty"` // the only ones to run on, as in "0-1,3"; "": all
}

// Status is what the supervisor knows of a task.
type Status struct {
	ID        string
	PID       int
	StartTime uint64 // of the process, in clock ticks since boot: with PID, an identity
	StartedAt time.Time
	Cgroups   []string   `json:",omitempty"` // directories that hold all of the task's processes
	Exit      *ExitState `json:",omitempty"` // nil while it runs
	// Background: the process of that PID has ended with 0, and the task goes on
	// without it.
	Background bool `json:",omitempty"`
}

// ExitState is how a task's main process ended, as recorded.
type ExitState struct {
	Code      int
	Signal    int  `json:",omitempty"`
	OOMKilled bool `json:",omitempty"`
	At        time.Time
	Lost      bool `json:",omitempty"` // nobody saw how it ended
	// Background: it was a daemon, and this is how what was seen of it ended last.
	Background bool `json:",omitempty"`
}

func (e *ExitState) exit() driver.Exit {
	x := driver.Exit{Code: e.Code, Signal: e.Signal, OOMKilled: e.OOMKilled, At: e.At, Background: e.Background}
	if e.Lost {
		x.Err = driver.ErrTaskLost
	}
	return x
}
