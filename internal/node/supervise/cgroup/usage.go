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

// CPUTime returns the processor time of all processes of the group, including ended ones;
// false if the kernel does not count it.
func (g *Group) CPUTime() (time.Duration, bool) {
	if g.unified != "" {
		if n, ok := counter(filepath.Join(g.unified, "cpu.stat"), "usage_usec"); ok {
			return time.Duration(n) * time.Microsecond, true
		}
	}
	for _, d := range g.v1 {
		if n, ok := number(filepath.Join(d, "cpuacct.usage")); ok {
			return time.Duration(n), true
		}
	}
	return 0, false
}

// Memory returns the anonymous memory of the group, in bytes; false if the kernel does not
// count it.
func (g *Group) Memory() (int64, bool) {
	for _, d := range g.Dirs() {
		stat := filepath.Join(d, "memory.stat")
		if n, ok := counter(stat, "anon"); ok {
			return int64(n), true
		}
		if n, ok := counter(stat, "total_rss"); ok {
			return int64(n), true
		}
	}
	return 0, false
}

func number(path string) (int64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil
}
