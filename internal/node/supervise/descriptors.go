// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeInherited closes the files that this process was started with and does
// not know: those of a shell, or of whatever started the agent. A task would
// inherit them, and might read what it may not open. Known ones are told by
// their mark: whatever is opened here is to be closed by exec.
func closeInherited() {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return // there are no tasks without /proc
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}
