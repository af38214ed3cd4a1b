// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
	"github.com/reeve-run/reeve/internal/node/supervise/oci"
)

// A Spec describes a process to start and keep.
type Spec struct {
	ID   string   // unique on this node; identifies the process later
	Path string   // the executable: an absolute path, or with Isolation a name or a path in the task's root
	Argv []string // including the program's name
	Env  []string // KEY=value, complete
	Dir  string   // working directory; with Isolation in the task's root

	// Daemon lets the processes that the main process leaves behind continue as the task when
	// it exits with code 0.
	Daemon bool `json:",omitempty"`

	// OOMScore makes the kernel end the task's processes before others when memory is short, from 0 to
	// 1000; 0: as likely as the supervisor. Only processes without Isolation and Container have it.
	OOMScore int `json:",omitempty"`

	User *User // nil: the supervisor's own
	Logs driver.Logs

	// Limits are enforced by cgroups on machines with writable ones.
	Limits Limits
	// Isolation gives the process its own namespaces and root; nil: it has the host's.
	Isolation *isolate.Spec
	// Container runs the process as the first one of a container, which describes everything but
	// ID, Logs and Limits; nil: it is a process of the host.
	Container *oci.Spec `json:",omitempty"`
	// Network is the path of the network namespace to start the process in; "": the host's.
	Network string `json:",omitempty"`
}

// User is the resolved user of a process.
type User struct {
	UID, GID uint32
	Groups   []uint32
}

// Limits bound all processes of a task together. Zero means no limit.
type Limits struct {
	CPUShares     int64 // relative weight, in MHz
	MemoryBytes   int64 // hard
	MemoryReserve int64 // soft limit: the kernel tries to leave it to the task
	Processes     int64
	CPUQuota      int64  `json:",omitempty"` // hard limit of processor time, in microseconds per CPUPeriod
	CPUPeriod     int64  `json:",omitempty"` // in microseconds; 0: 100,000
	Cores         string `json:",omitempty"` // the only cores to run on, as in "0-1,3"; "": all
}

// Status is the supervisor's state of a task.
type Status struct {
	ID        string
	PID       int
	StartTime uint64 // of the process, in clock ticks since boot; identifies the process together with PID
	StartedAt time.Time
	Cgroups   []string   `json:",omitempty"` // directories of the groups that hold all of the task's processes
	Exit      *ExitState `json:",omitempty"` // nil while it runs
	// Background reports whether the process PID has exited with code 0, and the task
	// continues without it.
	Background bool `json:",omitempty"`
}

// ExitState is the recorded exit of a task's main process.
type ExitState struct {
	Code      int
	Signal    int  `json:",omitempty"`
	OOMKilled bool `json:",omitempty"`
	At        time.Time
	Lost      bool `json:",omitempty"` // the exit was not observed
	// Background reports whether the task was a daemon, and this is its last observed exit.
	Background bool `json:",omitempty"`
}

func (e *ExitState) exit() driver.Exit {
	x := driver.Exit{Code: e.Code, Signal: e.Signal, OOMKilled: e.OOMKilled, At: e.At, Background: e.Background}
	if e.Lost {
		x.Err = driver.ErrTaskLost
	}
	return x
}
