// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/plantree"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// plannedTrees writes the plans that would run.
func plannedTrees(p *term.Page, plans []*api.Plan) {
	f := plantree.FoldLong
	if p.Complete {
		f = plantree.FoldNothing
	}
	for _, pl := range plans {
		p.Section("Resulting plan:")
		for _, line := range plantree.Lines(pl, p.Style, p.Now, f) {
			p.Line("%s", line)
		}
		planErrors(p, pl)
	}
}

// PlanChanges reports whether registration would start, stop or change allocations.
func PlanChanges(plan *api.PlanJobResponse) bool {
	if plan.Annotations == nil {
		return plan.Diff != nil && plan.Diff.Type != api.DiffNone
	}
	if len(plan.Annotations.PreemptedAllocs) > 0 {
		return true
	}
	for _, u := range plan.Annotations.DesiredUpdates {
		if u.Place+u.Stop+u.Migrate+u.InPlaceUpdate+u.DestructiveUpdate+u.Canary+u.Preemptions > 0 {
			return true
		}
	}
	return false
}

// JobPlan writes a dry run: the differences, the placement, and the next command.
func JobPlan(p *term.Page, plan *api.PlanJobResponse, req *api.PlanJobRequest, command []string) {
	if plan.Diff != nil {
		diff(p, plan.Diff)
		p.WriteByte('\n')
	}
	plannedPlacement(p, plan)
	plannedTrees(p, plan.Plans)
	p.WriteByte('\n')
	p.Line("Job Modify Index: %d", plan.JobModifyIndex)
	p.Line("To register exactly this plan, unless the job changes in the meantime:")
	p.WriteByte('\n')
	p.Line("    reeve job run -check-index %d %s", plan.JobModifyIndex, strings.Join(command, " "))
	if plan.Diff != nil && plan.Diff.Type == api.DiffNone && !PlanChanges(plan) {
		p.WriteByte('\n')
		p.Line("%s", fmt.Sprintf("Job %q would not change.", req.Job.ID))
	}
}

// preemptions lists the allocations that registration would preempt.
func preemptions(p *term.Page, annotations *api.PlanAnnotations) {
	if annotations == nil || len(annotations.PreemptedAllocs) == 0 {
		return
	}
	p.Line("%s", p.Style.Yellow("- These allocations of jobs with a lower priority would be preempted:"))
	p.WriteByte('\n')
	var rows [][]string
	for _, a := range annotations.PreemptedAllocs {
		rows = append(rows, []string{api.ShortID(a.ID), a.JobID, a.TaskGroup, api.ShortID(a.NodeID), a.NodeName})
	}
	p.Table([]string{"Allocation", "Job", "Group", "Node", "Name"}, rows)
}

// plannedNodes limits the listed nodes of a group, without -verbose.
const plannedNodes = 8

// plannedPlacement writes the changes to each group's instances, with their nodes.
func plannedPlacement(p *term.Page, plan *api.PlanJobResponse) {
	updates := map[string]*api.DesiredUpdates{}
	if plan.Annotations != nil {
		updates = plan.Annotations.DesiredUpdates
	}
	title, all := "Placement:", "- All instances can be placed."
	if plan.Start != nil {
		updates = plan.Start
		title, all = "Placement of one start:", "- All instances can be placed."
	}
	p.Line("%s", p.Style.Bold(title))
	for _, group := range slices.Sorted(maps.Keys(updates)) {
		p.Line("- %s: %s", group, cmp.Or(desiredInWords(updates[group]), "no changes"))
		if nodes := plan.Nodes[group]; len(nodes) > 0 {
			p.Line("  started on %s", nodesInWords(p, nodes))
		}
	}
	if len(plan.FailedGroups) == 0 {
		p.Line("%s", p.Style.Green(all))
	} else {
		p.Line("%s", p.Style.Yellow("- Some instances cannot be placed now, and would wait:"))
		PlacementFailures(p, plan.FailedGroups)
	}
	preemptions(p, plan.Annotations)
	if next := plan.NextPeriodicLaunch; !next.IsZero() {
		p.Line("- First start after registration now: %s", dueInWords(p.Now, next))
	}
}

// nodesInWords lists nodes with their counts.
func nodesInWords(p *term.Page, nodes map[string]int) string {
	names := slices.Sorted(maps.Keys(nodes))
	var parts []string
	for i, name := range names {
		if i == plannedNodes && !p.Complete && len(names) > plannedNodes+1 {
			parts = append(parts, fmt.Sprintf("%d more nodes", len(names)-i))
			break
		}
		if nodes[name] > 1 {
			name = fmt.Sprintf("%s (%d)", name, nodes[name])
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, ", ")
}
