// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package oci prepares containers and hands them to an OCI runtime, such as runc.
//
// A short-lived thread does the work: it enters a mount namespace of its own, mounts there all that the container consists
// of, and starts the runtime. The runtime starts the container in the background and ends. So the mounts exist in the
// namespaces of the thread and of the container alone: they end with these, however they end, and the machine's table of
// mounts never shows them.
//
// The package does not decide what a container may do; its Spec does.
package oci

import (
	"encoding/json"
	"os"
)

// A Spec describes a container.
type Spec struct {
	Runtime string          // absolute path of the runtime; "": only mount, as a probe
	Config  json.RawMessage // for the runtime; its root is Root, and its sources are StageBind(...)
	Layers  []string        // directories of the image, the lowest one first, each once
	Upper   string          // directory for the changes of the container, empty and owned by the agent
	Work    string          // directory for overlayfs, on the same file system as Upper
	Stage   string          // directory that mounts hide from the thread; see Stages
	Root    string          // another one, for the container's root; the runtime also enters it on the host
	Binds   []Bind
	Dirs    []string // directories that the root must have
	IDs     *IDs     // of a user namespace; nil: the container has the host's users
}

// A Bind makes a file or directory of the host available to the container.
type Bind struct {
	WithoutLink bool `json:",omitempty"` // fails if Source contains a symbolic link: tasks can change the directories on the way
	// Source is a path of the host, or a path below Beneath.
	Source string
	// Beneath is a directory that no task can replace. Links below it lead nowhere else.
	Beneath string `json:",omitempty"`
	// Make creates a missing directory at Source, below Beneath.
	Make     bool `json:",omitempty"`
	ReadOnly bool `json:",omitempty"`
	Deep     bool `json:",omitempty"` // includes the mounts below Source
	Inert    bool `json:",omitempty"` // devices and set-user-id bits in it have no effect
	Node     bool `json:",omitempty"` // Source is a device: a user of the container, UID and GID, owns a node of its own
	// Mode holds the permissions of a node; 0: those of the device.
	Mode     uint32 `json:",omitempty"`
	UID, GID uint32 `json:",omitempty"`
	Sysfs    bool   `json:",omitempty"` // a new sysfs, with the interfaces of the thread's network, instead of Source
	Program  bool   `json:",omitempty"` // the supervisor's executable, which sets Source
	HostIDs  bool   `json:",omitempty"` // shows the owners of the host, not those of the user namespace
}

// IDs is the range of the host's users and groups that a container's users and groups are. The
// container's root is the first one.
type IDs struct{ First, Size uint32 }

// A Task names the container for the runtime and its files.
type Task struct {
	Spec  *Spec
	ID    string   // of the container
	Dir   string   // of the runtime's files; it belongs to the supervisor
	Users *os.File // a user namespace with Spec.IDs; nil: none
}

// Env returns the environment of the runtime; the container's is in its description.
func Env() []string {
	return []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "GOMAXPROCS=2"}
}

// Files in a container's directory.
const (
	stateName = "state" // directory of the runtime
	logName   = "log"   // errors of the runtime
	pidName   = "pid"   // of the container's first process
	specName  = "container.json"
)
