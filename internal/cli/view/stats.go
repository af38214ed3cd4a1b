// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
)

// inUse describes a task's current usage of its reserved resources; "" if it is unknown.
func inUse(a *api.Allocation, task string, stats *api.AllocationStats) string {
	if stats == nil || stats.Tasks[task] == nil || stats.Tasks[task].ResourceUsage == nil {
		return ""
	}
	used := stats.Tasks[task].ResourceUsage
	var reserved api.AllocatedTask
	if a.AllocatedResources != nil && a.AllocatedResources.Tasks[task] != nil {
		reserved = *a.AllocatedResources.Tasks[task]
	}
	var parts []string
	if c := used.CPUStats; c != nil {
		parts = append(parts, share(fmt.Sprintf("%.0f MHz", c.TotalTicks), fmt.Sprintf("%d MHz", reserved.CPU.CPUShares),
			c.TotalTicks, float64(reserved.CPU.CPUShares)))
	}
	if m := used.MemoryStats; m != nil {
		bytes, most := int64(max(m.RSS, m.Usage)), reserved.Memory.MemoryMB<<20
		parts = append(parts, share(human.Bytes(bytes), human.Megabytes(reserved.Memory.MemoryMB), float64(bytes), float64(most)))
	}
	return strings.Join(parts, ", ")
}

// share formats an amount with its percentage of the whole.
func share(used, of string, amount, whole float64) string {
	if whole <= 0 {
		return used
	}
	return fmt.Sprintf("%s of %s (%.0f %%)", used, of, 100*amount/whole)
}
