// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package isolate

import "golang.org/x/sys/unix"

// Init runs as the first process of a task's namespaces.
func Init() int { return 1 }

// Enter runs beside a task.
func Enter() int { return 1 }

// CloneFlags are the namespaces to start Init in.
func CloneFlags(s *Spec) uintptr {
	flags := uintptr(unix.CLONE_NEWNS | unix.CLONE_NEWUTS)
	if !s.HostPID {
		flags |= unix.CLONE_NEWPID
	}
	if !s.HostIPC {
		flags |= unix.CLONE_NEWIPC
	}
	return flags
}
