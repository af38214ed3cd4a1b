// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeInherited closes inherited files, such as those of a shell that started the agent. A
// task would inherit them, and might read files that it may not open. Files that this
// process opened have the close-on-exec flag, and are skipped.
func closeInherited() {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return // no task can run without /proc
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
