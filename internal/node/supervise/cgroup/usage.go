// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Usage is what the kernel counts for the processes of a group, including ended ones. Unknown numbers are
// 0.
type Usage struct {
	HasCPU, HasMemory bool // whether the kernel counts processor time, and memory

	CPU, User, System time.Duration
	ThrottledPeriods  uint64
	ThrottledTime     time.Duration

	// Bytes of memory. RSS is anonymous memory: version 2 has no other number that means the same.
	RSS, Cache, Swap, Memory, MaxMemory, Kernel int64
}

// v1Ticks is the unit of cpuacct.stat.
const v1Ticks = time.Second / 100

// Usage reads the usage of the group.
func (g *Group) Usage() Usage {
	var u Usage
	if g.unified != "" {
		u.readUnified(g.unified)
	}
	for _, d := range g.v1 {
		u.readV1(d)
	}
	return u
}

func (u *Usage) readUnified(dir string) {
	for key, n := range counters(filepath.Join(dir, "cpu.stat")) {
		switch key {
		case "usage_usec":
			u.CPU, u.HasCPU = time.Duration(n)*time.Microsecond, true
		case "user_usec":
			u.User = time.Duration(n) * time.Microsecond
		case "system_usec":
			u.System = time.Duration(n) * time.Microsecond
		case "nr_throttled":
			u.ThrottledPeriods = uint64(n)
		case "throttled_usec":
			u.ThrottledTime = time.Duration(n) * time.Microsecond
		}
	}
	for key, n := range counters(filepath.Join(dir, "memory.stat")) {
		switch key {
		case "anon":
			u.RSS, u.HasMemory = n, true
		case "file":
			u.Cache = n
		case "kernel":
			u.Kernel = n
		}
	}
	if u.HasMemory {
		u.Memory, _ = number(filepath.Join(dir, "memory.current"))
		u.MaxMemory, _ = number(filepath.Join(dir, "memory.peak"))
		u.Swap, _ = number(filepath.Join(dir, "memory.swap.current"))
	}
}

// readV1 reads the files of the controllers in one directory. A hybrid machine has each controller in one
// hierarchy only.
func (u *Usage) readV1(dir string) {
	if n, ok := number(filepath.Join(dir, "cpuacct.usage")); ok && !u.HasCPU {
		u.CPU, u.HasCPU = time.Duration(n), true
		stat := counters(filepath.Join(dir, "cpuacct.stat"))
		u.User, u.System = time.Duration(stat["user"])*v1Ticks, time.Duration(stat["system"])*v1Ticks
	}
	if _, err := os.Stat(filepath.Join(dir, "cpu.shares")); err == nil {
		stat := counters(filepath.Join(dir, "cpu.stat"))
		u.ThrottledPeriods, u.ThrottledTime = uint64(stat["nr_throttled"]), time.Duration(stat["throttled_time"])
	}
	if u.HasMemory {
		return
	}
	if stat := counters(filepath.Join(dir, "memory.stat")); len(stat) > 0 {
		u.HasMemory = true
		u.RSS, u.Cache, u.Swap = stat["total_rss"], stat["total_cache"], stat["total_swap"]
		u.Memory, _ = number(filepath.Join(dir, "memory.usage_in_bytes"))
		u.MaxMemory, _ = number(filepath.Join(dir, "memory.max_usage_in_bytes"))
		u.Kernel, _ = number(filepath.Join(dir, "memory.kmem.usage_in_bytes"))
	}
}

// counters reads a file with lines such as "anon 4096". Numbers that are negative or damaged are left out.
func counters(path string) map[string]int64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	all := make(map[string]int64, 64)
	for line := range strings.Lines(string(b)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseInt(value, 10, 64); ok && err == nil && n >= 0 {
			all[key] = n
		}
	}
	return all
}

func number(path string) (int64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil
}
