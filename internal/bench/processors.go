// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// processors holds how the machine's processors have spent their time since it started, in ticks.
// On a virtual machine, others may run on them.
type processors struct {
	total, steal uint64
}

// readProcessors reads /proc/stat, whose first line is the sum over all processors; see proc_stat(5).
func readProcessors() (p processors) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return p
	}
	line, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(line) {
		ticks, _ := strconv.ParseUint(field, 10, 64)
		if i >= 1 && i <= 8 { // user, nice, system, idle, iowait, irq, softirq, steal; the others are part of user
			p.total += ticks
		}
		if i == 8 {
			p.steal = ticks
		}
	}
	return p
}

// stolen returns the share of time since p that others ran.
func (p processors) stolen() string {
	now := readProcessors()
	if now.total == p.total {
		return "an unknown share"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(now.steal-p.steal)/float64(now.total-p.total))
}
