// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Processes returns the supervisor and the tasks with their children: processes whose command
// line or environment contains the data directory, and their descendants, without zombies.
func (m *Machine) Processes() []int {
	parents, own := map[int]int{}, map[int]bool{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		parents[pid] = parent(pid)
		own[pid] = mentions(pid, m.Dir)
	}
	agent := 0
	if m.cmd != nil && m.cmd.Process != nil {
		agent = m.PID()
	}
	var pids []int
	for pid := range parents {
		if pid == os.Getpid() || pid == agent || len(CommandLine(pid)) == 0 {
			continue
		}
		for p := pid; p > 1 && p != agent && p != os.Getpid(); p = parents[p] {
			if own[p] {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

func mentions(pid int, text string) bool {
	for _, file := range []string{"cmdline", "environ"} {
		content, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), file))
		if err == nil && bytes.Contains(content, []byte(text)) {
			return true
		}
	}
	return false
}

func parent(pid int) int {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(f[1])
	return n
}

// noteGroups collects the names of the machine's cgroups (reeve/NAME).
func noteGroups(pid int, groups map[string]bool) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	for line := range strings.Lines(string(text)) {
		if _, path, ok := strings.Cut(line, ":/reeve/"); ok {
			name, _, _ := strings.Cut(strings.TrimSpace(path), "/")
			groups[name] = true
		}
	}
}

// removeGroup removes the directories of a cgroup in every hierarchy. Directories in use stay:
// their processes have received SIGKILL and are ending.
func removeGroup(name string) {
	for _, pattern := range []string{"/sys/fs/cgroup/reeve/", "/sys/fs/cgroup/*/reeve/"} {
		tasks, _ := filepath.Glob(pattern + name + "/*/")
		whole, _ := filepath.Glob(pattern + name)
		for _, dir := range append(tasks, whole...) {
			os.Remove(dir)
		}
	}
}

// CommandLine returns a process's arguments; nil if it has ended.
func CommandLine(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
}

// ResidentBytes returns the memory of a process; 0 if it has ended.
func ResidentBytes(pid int) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10
		}
	}
	return 0
}
