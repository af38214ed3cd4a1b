// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/jobspec"
)

// explainPlacement describes why instances of a group could not be placed: one line per
// reason, starting with the reason of most nodes.
func explainPlacement(m *api.PlacementMetrics) []string {
	if m == nil {
		return nil
	}
	if m.NodesEvaluated == 0 && m.NodesFiltered == 0 && m.NodesExhausted == 0 && len(m.QuotaExhausted) == 0 {
		return noNodes(m)
	}
	lines := countedReasons(m.ConstraintFiltered, func(reason string, nodes string) string {
		return fmt.Sprintf("%s excluded by: %s%s", nodes, reason, nearDriver(reason))
	})
	if len(m.ConstraintFiltered) == 0 {
		lines = append(lines, countedReasons(m.ClassFiltered, func(class string, nodes string) string {
			return fmt.Sprintf("%s of class %q excluded by constraints", nodes, class)
		})...)
	}
	lines = append(lines, countedReasons(m.DimensionExhausted, func(dimension string, nodes string) string {
		if what, ok := strings.CutPrefix(dimension, "network: "); ok {
			return nodes + " excluded by the network: " + what
		}
		if dimension == api.DimensionStarting {
			return nodes + " with the maximum number of starting allocations"
		}
		if what, ok := strings.CutPrefix(dimension, "devices: "); ok {
			return fmt.Sprintf("%s without enough free devices: %s", nodes, what)
		}
		return fmt.Sprintf("%s without enough %s%s", nodes, dimension, askedFor(m, dimension))
	})...)
	if m.NodesExhausted > 0 && len(m.DimensionExhausted) == 0 {
		lines = append(lines, human.Count(m.NodesExhausted, "node is exhausted", "nodes are exhausted"))
	}
	for _, quota := range m.QuotaExhausted {
		line := "waits for " + quota
		if name := api.QuotaInText(quota); name != "" {
			line += "; see: reeve quota status " + name
		}
		lines = append(lines, line)
	}
	return lines
}

// missingDriver is the prefix of the reason of nodes without a task's driver.
const missingDriver = "missing drivers: "

// nearDriver suggests a known driver for the unknown driver in a reason.
func nearDriver(reason string) string {
	driver, ok := strings.CutPrefix(reason, missingDriver)
	driver, _, _ = strings.Cut(driver, ":") // its reason
	known := api.BuiltInDrivers()
	if !ok || slices.Contains(known, driver) {
		return ""
	}
	if near := jobspec.Nearest(driver, known); near != "" {
		return human.DidYouMean(near)
	}
	return " (Reeve has " + strings.Join(known, ", ") + ")"
}

func noNodes(m *api.PlacementMetrics) []string {
	if len(m.NodesAvailable) == 0 {
		if m.NodePool != "" && m.NodePool != api.NodePoolDefault {
			return []string{fmt.Sprintf("no node is ready in node pool %q", m.NodePool)}
		}
		return []string{"no node is ready in the job's datacenters"}
	}
	var empty []string
	for _, dc := range slices.Sorted(maps.Keys(m.NodesAvailable)) {
		if m.NodesAvailable[dc] == 0 {
			empty = append(empty, dc)
		}
	}
	if len(empty) == 0 {
		return []string{"no node was eligible"}
	}
	return []string{"no node is ready in datacenter " + strings.Join(empty, ", ")}
}

// askedFor describes the requested amount of a dimension.
func askedFor(m *api.PlacementMetrics, dimension string) string {
	total := 0
	unit := ""
	for _, r := range m.ResourcesExhausted {
		switch {
		case strings.HasPrefix(dimension, "cpu") && r.CPU != nil:
			total, unit = total+*r.CPU, " MHz"
		case strings.HasPrefix(dimension, "memory") && r.MemoryMB != nil:
			memory, _ := r.Memory()
			total, unit = total+memory, " MiB"
		case strings.HasPrefix(dimension, "disk") && r.DiskMB != nil:
			total, unit = total+*r.DiskMB, " MiB"
		}
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf(" (requested: %d%s)", total, unit)
}

// countedReasons formats reasons with their numbers of nodes, largest first.
func countedReasons(reasons map[string]int, text func(reason, nodes string) string) []string {
	keys := slices.Sorted(maps.Keys(reasons))
	sort.SliceStable(keys, func(i, j int) bool { return reasons[keys[i]] > reasons[keys[j]] })
	lines := make([]string, 0, len(keys))
	for _, k := range keys {
		lines = append(lines, text(k, human.Count(reasons[k], "node", "nodes")))
	}
	return lines
}

// PlacementFailures writes the groups that could not be placed, with the reasons.
func PlacementFailures(p *term.Page, failed map[string]*api.PlacementMetrics) {
	for _, group := range slices.Sorted(maps.Keys(failed)) {
		m := failed[group]
		p.Line("%s %s", p.Style.Yellow(fmt.Sprintf("Group %q:", group)),
			human.Count(1+m.CoalescedFailures, "instance could not be placed", "instances could not be placed"))
		if m.NodesEvaluated > 0 {
			p.Line("  %s evaluated", human.Count(m.NodesEvaluated, "node", "nodes"))
		}
		for _, line := range explainPlacement(m) {
			p.Line("  * %s", line)
		}
	}
}
