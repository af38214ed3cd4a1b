// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package isolate gives a process its own view of the machine: namespaces, a root made of some
// of the host's directories, and few privileges.
//
// It runs in short-lived steps, as processes between the supervisor and a task: Init starts a
// task, Enter a command beside it, and Join only joins the cgroups of old machines. All
// replace themselves with the prepared program, so that nothing of this package stays. The
// exception are daemons: Linux kills a pid namespace together with its first process, so
// Init stays that process. The package does not decide what a task may see; its Spec does.
package isolate

import (
	"github.com/reeve-run/reeve/internal/node/landlock"
)

// A Spec describes a process's view of the machine.
type Spec struct {
	RootDir   string   // an empty directory of the host to build the root on
	HostPaths []string // visible read-only at the same paths; missing ones are left out
	Mounts    []Mount  // additional mounts, in this order
	Devices   []Device // device nodes below /dev, besides those that every task has
	HostPID   bool     // keep the host's process ids
	HostIPC   bool     // keep the host's System V IPC and message queues
	// Hostname is the name of the task's machine; "": the host's.
	Hostname string `json:",omitempty"`
	// Capabilities of root in the task, such as "CAP_CHOWN".
	Capabilities []string
	// Ambient holds the capabilities that other users have, too.
	Ambient []string
	// DataBytes limits a process's memory on machines without cgroups.
	DataBytes int64
	// Ulimits are the limits of the command's processes; others are inherited.
	Ulimits []Ulimit
	// Landlock holds the only files that the command's processes can use; none: all that they see.
	Landlock []landlock.Rule `json:",omitempty"`
}

// A Mount makes a directory or file of the host visible.
type Mount struct {
	Source, Target string
	ReadOnly       bool
	// Propagation determines whether later mounts below the source appear in the task
	// ("host-to-task"), and those of the task on the host too ("bidirectional"); "": neither.
	Propagation string `json:",omitempty"`
	// WithoutLink rejects links on the way to the source too, not only in its place.
	WithoutLink bool `json:",omitempty"`
}

// A Device is a device node of the host that the task's user may open.
type Device struct {
	Source, Target string
	Mode           uint32 // permissions of the user
}

// A Command is the program that Init or Enter prepares and runs.
type Command struct {
	Path string // a path, or a name to look up in Env's PATH
	Argv []string
	Env  []string
	Dir  string
	User *User    // nil: the user of the step
	Join []string // cgroup directories to join
	Spec *Spec    // nil for Join
	// OOMScore is the process's oom_score_adj; 0: that of the supervisor.
	OOMScore int `json:",omitempty"`
	// Become makes Init run a daemon's command beside itself, and stay until all processes
	// have ended. It is the word that starts Join.
	Become string
}

// User is the user that a command runs as.
type User struct {
	UID, GID uint32
	Groups   []uint32
}
