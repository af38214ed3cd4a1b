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

// markerName is an environment variable of tasks on machines without cgroups. A process that
// left its session and lost its parent still has it.
const markerName = "REEVE_SUPERVISED"

// markerOf returns the variable of a task of the directory's supervisor; with id "", the
// common prefix of the variables of all its tasks.
func markerOf(dir, id string) string {
	m := markerName + "=" + dirHash(dir) + "/"
	if id != "" {
		m += groupName(id) + "/"
	}
	return m
}

// clearTimeout bounds the repetition of walks because of processes that may or may not belong
// to the task: a process that reads its program from a dead file server may stay so.
const clearTimeout = time.Second

// killByWalk kills the processes of a task without cgroups: the main process's session, its
// descendants, and all processes with the task's marker. It repeats the walk, because
// processes may fork in the meantime, until a walk finds none and every other process is
// known not to belong to the task.
func killByWalk(ctx context.Context, marker string, pid int, startTime uint64) error {
	known := map[int]uint64{pid: startTime} // start times by pid, because exiting processes show no environment
	begin := time.Now()
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		found, clear := walk(marker, pid, startTime, known)
		if len(found) == 0 && (clear || time.Since(begin) > clearTimeout) {
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

// walk finds the processes of a task, including known ones. clear reports whether no other
// process can belong to it now.
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

// hasMarker reports whether a process has a marker in its environment. The answer is not sure
// while the process executes a program, because its old environment is gone and the new one
// does not exist yet.
func hasMarker(pid int, marker []byte) (has, sure bool) {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false, true // it has ended, or belongs to another user
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

// signalExactly sends a signal to the process, and never to a later one with the same pid: it
// opens the pidfd first, and then compares the start time.
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
