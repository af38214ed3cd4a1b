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

// clearPatience bounds how long a walk is repeated only because of processes of
// which it cannot be told whether they belong to the task: one that reads its
// program from a dead file server may stay so.
const clearPatience = time.Second

// killByWalk ends what belongs to a task where there is no cgroup to say: the
// main process's session, its descendants, and what carries the task's marker.
// It walks until a walk finds nothing, since processes may fork meanwhile, and
// knows of all that they do not belong to the task.
func killByWalk(ctx context.Context, marker string, pid int, startTime uint64) error {
	known := map[int]uint64{pid: startTime} // start times by pid: what ends shows no environment any more
	begin := time.Now()
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		found, clear := walk(marker, pid, startTime, known)
		if len(found) == 0 && (clear || time.Since(begin) > clearPatience) {
			return nil
		}
		for _, p := range found {
			known[p.PID] = p.StartTime
			killExactly(p)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d processes of a task do not end: %w", len(found), ctx.Err())
		case <-time.After(wait):
		}
	}
}

// walk finds the processes of a task, known ones among them. It is clear if no
// other can be of it now.
func walk(marker string, pid int, startTime uint64, known map[int]uint64) (found []procStat, clear bool) {
	in := map[int]bool{}
	all := allProcesses()
	clear = true
	for _, p := range all {
		start, ours := known[p.PID]
		ours = ours && p.StartTime == start || p.Session == pid && pid != 0 && p.StartTime >= startTime
		if !ours {
			var sure bool
			ours, sure = hasMarker(p.PID, []byte(marker))
			clear = clear && sure
		}
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
	for _, p := range all {
		if in[p.PID] && p.State != 'Z' && p.State != 'X' {
			found = append(found, p)
		}
	}
	return found, clear
}

// hasMarker reports whether a process carries a marker in its environment. That
// is not sure while it executes a program: the old environment is gone then, and
// the new one not there yet.
func hasMarker(pid int, marker []byte) (has, sure bool) {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false, true // it has ended, or is somebody else's
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.HasPrefix(v, marker) {
			return true, true
		}
	}
	if len(env) > 0 {
		return false, true
	}
	now, err := readStat(pid)
	return false, err != nil || !now.Environ
}

func killExactly(p procStat) { signalExactly(p, unix.SIGKILL) }

// signalExactly sends a signal to that process and no later one of the same pid:
// the pidfd is taken first, and counts only if the start time is still the same
// then.
func signalExactly(p procStat, sig unix.Signal) {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if now, err := readStat(p.PID); err == nil && now.StartTime == p.StartTime {
		unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}
