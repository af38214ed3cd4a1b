// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/driver/docker/engine"
	"github.com/reeve-run/reeve/internal/node/landlock"
)

// daemonPatience bounds the question to a Docker daemon.
const daemonPatience = 5 * time.Second

// Gather reads the machine. It changes nothing.
func Gather(ctx context.Context, dataDir, runtime, dockerSocket string) System {
	s := System{
		DataDir: dataDir, OpenFiles: openFileLimit(), Landlock: landlock.Version(), NoSwap: noSwap(), Swap: hasSwap(readFile("/proc/swaps")),
		Overlay: listed(readFile("/proc/filesystems"), "overlay"), UserNamespaces: readInt("/proc/sys/user/max_user_namespaces"),
		InotifyInstances: readInt("/proc/sys/fs/inotify/max_user_instances"), InotifyWatches: readInt("/proc/sys/fs/inotify/max_user_watches"),
		Seccomp: listed(readFile("/proc/sys/kernel/seccomp/actions_avail"), "errno"), Kernel: kernelVersion(readFile("/proc/sys/kernel/osrelease")),
	}
	s.readDisk()
	s.readClock()
	_, err := container.FindRuntime(runtime)
	s.Runc = err == nil
	_, err = exec.LookPath("git")
	s.Git = err == nil
	ctx, cancel := context.WithTimeout(ctx, daemonPatience)
	defer cancel()
	if dockerSocket != "" {
		_, err = engine.New(dockerSocket).Version(ctx)
		s.DockerAnswers = err == nil
	}
	return s
}

// readDisk measures the file system of the data directory, or of the nearest directory above it that exists.
func (s *System) readDisk() {
	var st unix.Statfs_t
	dir := s.DataDir
	for ; unix.Statfs(dir, &st) != nil; dir = filepath.Dir(dir) {
		if dir == filepath.Dir(dir) {
			return
		}
	}
	s.DataExists = dir == s.DataDir
	s.DiskFree, s.DiskTotal = st.Bavail*uint64(st.Bsize), st.Blocks*uint64(st.Bsize)
	s.DataInMemory = st.Type == unix.TMPFS_MAGIC || st.Type == unix.RAMFS_MAGIC
}

// readClock asks the kernel whether a program disciplines the clock.
func (s *System) readClock() {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	s.ClockKnown = err == nil
	s.ClockSynced = state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0
}

func openFileLimit() uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return l.Max
}

// noSwap reports whether the kernel knows the option of memory file systems. It prepares a file system that is never mounted.
func noSwap() bool {
	fd, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return unix.FsconfigSetFlag(fd, "noswap") == nil
}

// hasSwap reads /proc/swaps, which has a heading.
func hasSwap(text string) bool { return strings.Count(strings.TrimSpace(text), "\n") > 0 }

// kernelVersion reads a release such as "6.1.0-18-amd64"; zeros if it has another form.
func kernelVersion(release string) (v [2]int) {
	if n, _ := fmt.Sscanf(release, "%d.%d", &v[0], &v[1]); n < 2 {
		return [2]int{}
	}
	return v
}

func listed(text, word string) bool { return slices.Contains(strings.Fields(text), word) }

func readFile(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

func readInt(path string) int {
	n, err := strconv.Atoi(strings.TrimSpace(readFile(path)))
	if err != nil {
		return -1
	}
	return n
}
