// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cni

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Bounds of EndStrays: what it does not end within them, ends with the namespace or not at all.
const (
	strayRounds  = 16   // a process may start another one meanwhile
	strayEndTime = 1000 // milliseconds until a killed process has ended
)

// EndStrays ends the processes that plugins left behind for a container, even those that left the
// plugin's process group, and waits for their end. Such a process inherits the plugin's environment. A
// stray of an ADD could otherwise take an address after the DEL.
func EndStrays(container string) {
	for range strayRounds {
		if killed := killStrays(container); !killed {
			return
		}
	}
}

func killStrays(container string) (killed bool) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || !isStray(pid, container) {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		if isStray(pid, container) && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil { // still the process that has this id
			killed = true
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, strayEndTime)
		}
		unix.Close(fd)
	}
	return killed
}

// isStray reports whether a process has the environment of a plugin that works for a container.
func isStray(pid int, container string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false // it has ended, or belongs to another user
	}
	var command, ours bool
	for v := range bytes.SplitSeq(env, []byte{0}) {
		command = command || bytes.HasPrefix(v, []byte(commandVariable))
		ours = ours || string(v) == containerVariable+container
	}
	return command && ours
}
