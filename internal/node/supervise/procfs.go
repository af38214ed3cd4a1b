// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A procStat is a process's entry in /proc.
type procStat struct {
	PID, PPID, Session int
	State              byte
	Ticks              uint64 // user and system time, in clock ticks
	StartTime          uint64 // in clock ticks since boot
	RSSPages           int64
	Environ            bool // reports whether it has an environment, or will have one after its exec
}

// clockTicks is the number of clock ticks per second that Linux shows to user space on all
// machines.
const clockTicks = 100

func readStat(pid int) (procStat, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return procStat{}, err
	}
	return parseStat(b)
}

var errStatFormat = errors.New("unexpected format of /proc/PID/stat")

// parseStat parses a line of /proc/PID/stat. The command's name, in brackets, may contain
// anything, so it counts fields from the last bracket.
func parseStat(b []byte) (procStat, error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return procStat{}, errStatFormat
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:open])))
	f := strings.Fields(string(b[end+1:]))
	if err != nil || len(f) < 22 {
		return procStat{}, errStatFormat
	}
	var bad error
	num := func(i int) uint64 {
		v, err := strconv.ParseUint(f[i], 10, 64)
		if err != nil {
			bad = fmt.Errorf("%w: field %d is %q", errStatFormat, i+3, f[i])
		}
		return v
	}
	s := procStat{
		PID: pid, State: f[0][0], PPID: int(num(1)), Session: int(num(3)),
		Ticks: num(11) + num(12), StartTime: num(19), RSSPages: int64(num(21)),
	}
	if len(f) > 48 && num(20) > 0 { // it has memory
		begin, end := num(47), num(48)
		s.Environ = begin < end || end == 0
	}
	return s, bad
}

// alive reports whether the process with that pid and start time still runs. Zombies do not.
func alive(pid int, startTime uint64) bool {
	s, err := readStat(pid)
	return err == nil && s.StartTime == startTime && s.State != 'Z' && s.State != 'X'
}

// allProcesses returns all visible processes.
func allProcesses() []procStat {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var all []procStat
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		if s, err := readStat(pid); err == nil {
			all = append(all, s)
		}
	}
	return all
}

// bootID returns an id that changes when the machine boots, which invalidates all pids.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
