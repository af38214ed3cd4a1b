// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// markerName is a variable in the environment of tasks on machines without
// cgroups. A process that left its session and lost its parent still carries
// it.
const markerName = "REEVE_SUPERVISED"

// markerOf is the variable of a task of the supervisor of that directory; with
// id "", what those of all its tasks begin with.
func markerOf(dir, id string) string {
	m := markerName + "=" + dirHash(dir) + "/"
	if id != "" {
		m += groupName(id) + "/"
	}
	return m
}

// killByWalk ends what belongs to a task where there is no cgroup to say: the
// main process's session, its descendants, and what carries the task's marker.
// It walks until a walk finds nothing, since processes may fork meanwhile.
func killByWalk(ctx context.Context, marker string, pid int, startTime uint64) error {
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		found := walk(marker, pid, startTime)
		if len(found) == 0 {
			return nil
		}
		for _, p := range found {
			killExactly(p)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d processes of a task do not end: %w", len(found), ctx.Err())
		case <-time.After(wait):
		}
	}
}

func walk(marker string, pid int, startTime uint64) []procStat {
	in := map[int]bool{}
	all := allProcesses()
	for _, p := range all {
		ours := p.PID == pid && p.StartTime == startTime ||
			p.Session == pid && pid != 0 && p.StartTime >= startTime ||
			hasMarker(p.PID, []byte(marker))
		if ours {
			in[p.PID] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if !in[p.PID] && in[p.PPID] {
				in[p.PID], grown = true, true
			}
		}
	}
	var found []procStat
	for _, p := range all {
		if in[p.PID] && p.State != 'Z' && p.State != 'X' {
			found = append(found, p)
		}
	}
	return found
}

func hasMarker(pid int, marker []byte) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.HasPrefix(v, marker) {
			return true
		}
	}
	return false
}

// killExactly kills that process and no later one of the same pid: the pidfd is
// taken first, and counts only if the start time is still the same then.
func killExactly(p procStat) {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if now, err := readStat(p.PID); err == nil && now.StartTime == p.StartTime {
		unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}
