// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package isolate gives a process its own view of the machine: namespaces, a
// root made of some of the host's directories, and few rights.
//
// It runs in short-lived steps, processes between the supervisor and a task:
// Init starts a task, Enter a command beside it; Join does nothing but join the
// cgroups of old machines. All replace themselves by what
// they prepare, so nothing of this package stays, but for daemons: Linux ends all of
// a pid namespace with its first process, so that Init stays that. It does not
// decide what a task may see; that is in its Spec.
package isolate

import "github.com/reeve-run/reeve/api"

// A Spec says what a process sees of the machine.
type Spec struct {
	RootDir   string   // an empty directory of the host to build the root on
	HostPaths []string // of the host, seen at the same place, read-only; missing ones are left out
	Mounts    []Mount  // more, in this order
	HostPID   bool     // keep the host's process ids
	HostIPC   bool     // keep the host's System V IPC and message queues
	// Capabilities that root has in there, such as "CAP_CHOWN".
	Capabilities []string
	// Ambient capabilities, which a user other than root has, too.
	Ambient []string
	// DataBytes limits a process's memory where there is no cgroup to do it.
	DataBytes int64
	// Ulimits of the command's processes; others are the supervisor's.
	Ulimits []api.Ulimit
}

// A Mount shows a directory or file of the host.
type Mount struct {
	Source, Target string
	ReadOnly       bool
}

// A Command is what is to run, handed to Init and Enter.
type Command struct {
	Path string // a path, or a name to look up in Env's PATH
	Argv []string
	Env  []string
	Dir  string
	User *User    // nil: whoever the step runs as
	Join []string // cgroup directories to join
	Spec *Spec    // nil for Join
	// Become makes Init run the command beside itself, and stay until nothing of it
	// is left: a daemon. It is the word that starts Join.
	Become string
}

// User is whom a command runs as.
type User struct {
	UID, GID uint32
	Groups   []uint32
}
