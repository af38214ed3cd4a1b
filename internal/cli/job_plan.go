// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
)

const jobPlanExitCodes = `0    registering the file would start, stop and change nothing
1    it would start, stop or change allocations
255  the plan could not be made; stderr says why`

func jobPlanCommand(c *cli) *cobra.Command {
	var (
		file       jobFile
		request    api.PlanJobRequest
		jsonOutput bool
		template   string
		verbose    bool
	)
	cmd := &cobra.Command{
		Use:   "plan FILE",
		Short: "Show what registering a job file would change",
		Long: `Compares the job of a file ("-" is stdin) with the one that is registered, tries
to place it, and says what would happen. It changes nothing.

The last line is the command that registers exactly what was planned: it
refuses when somebody changed the job in between.`,
		Example: `reeve job plan web.hcl
reeve job plan -var version=2 web.hcl`,
		Args:              exactly(1, "FILE"),
		ValidArgsFunction: completeJobFiles,
		Annotations:       map[string]string{annotationExitCodes: jobPlanExitCodes, annotationErrorCode: "255"},
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := file.load(c, args[0])
			if err != nil {
				return err
			}
			request.Job = in.job
			return in.explain(c.planJob(cmd.Context(), &request, planOutput{
				format: format{json: jsonOutput, template: template}, command: file.runCommand(args[0]), verbose: verbose,
			}))
		},
	}
	f := cmd.Flags()
	file.addTo(f)
	f.BoolVar(&request.Diff, "diff", true, "show what differs between the registered job and the file")
	f.BoolVar(&request.PolicyOverride, "policy-override", false, "accepted for compatibility; there are no policies to override")
	f.BoolVar(&jsonOutput, "json-output", false, "print the plan as JSON, as the HTTP API returns it")
	f.StringVarP(&template, "template", "t", "", "print the plan through a Go `TEMPLATE`")
	f.BoolVar(&verbose, "verbose", false, "show also what does not change")
	return cmd
}

// planOutput is how a plan is shown, and the command that would register it.
type planOutput struct {
	format  format
	command []string
	verbose bool
}

// runCommand is the "job run" that registers this file with these variables.
func (f *jobFile) runCommand(path string) []string {
	var args []string
	if f.json {
		args = append(args, "-json")
	}
	for _, v := range f.vars {
		args = append(args, "-var", shellQuote(v))
	}
	for _, v := range f.varFiles {
		args = append(args, "-var-file", shellQuote(v))
	}
	return append(args, shellQuote(path))
}

// shellQuote quotes an argument when a shell would take it apart.
func shellQuote(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"$`\\|&;<>()*?[]#~!{}") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func (c *cli) planJob(ctx context.Context, req *api.PlanJobRequest, out planOutput) error {
	cl, err := c.connect()
	if err != nil {
		return err
	}
	if req.Job.Namespace != "" {
		cl = cl.WithNamespace(req.Job.Namespace)
	}
	plan, err := cl.Jobs().Plan(ctx, req)
	if err != nil {
		return err
	}
	if err := c.show(out.format, plan, func(p *page) {
		p.complete = out.verbose
		p.plan(plan, req, out.command)
	}); err != nil {
		return err
	}
	if out.format.forPeople() {
		c.warn(plan.Warnings)
	}
	if planChanges(plan) {
		return exitWith(exitChanges)
	}
	return nil
}

// planChanges reports whether registering would start, stop or change
// allocations.
func planChanges(plan *api.PlanJobResponse) bool {
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

// plan writes a dry run: the difference, where it would go, and how to go on.
func (p *page) plan(plan *api.PlanJobResponse, req *api.PlanJobRequest, command []string) {
	if plan.Diff != nil {
		p.diff(plan.Diff)
		p.WriteByte('\n')
	}
	p.plannedPlacement(plan)
	p.plannedTrees(plan.Plans)
	p.WriteByte('\n')
	p.line("Job Modify Index: %d", plan.JobModifyIndex)
	p.line("To register exactly this, unless somebody changes the job meanwhile:")
	p.WriteByte('\n')
	p.line("    reeve job run -check-index %d %s", plan.JobModifyIndex, strings.Join(command, " "))
	if plan.Diff != nil && plan.Diff.Type == api.DiffNone && !planChanges(plan) {
		p.WriteByte('\n')
		p.line("%s", fmt.Sprintf("The file is what is registered: job %q would not change.", req.Job.ID))
	}
}

// preemptions lists what registering would preempt.
func (p *page) preemptions(annotations *api.PlanAnnotations) {
	if annotations == nil || len(annotations.PreemptedAllocs) == 0 {
		return
	}
	p.line("%s", p.style.yellow("- These would be stopped to make room, as their jobs have a lower priority:"))
	p.WriteByte('\n')
	var rows [][]string
	for _, a := range annotations.PreemptedAllocs {
		rows = append(rows, []string{api.ShortID(a.ID), a.JobID, a.TaskGroup, api.ShortID(a.NodeID), a.NodeName})
	}
	p.table([]string{"Allocation", "Job", "Group", "Node", "Name"}, rows)
}

// plannedNodes is how many nodes of a group a plan names, without -verbose.
const plannedNodes = 8

// plannedPlacement writes what would be done to each group's instances, and
// where.
func (p *page) plannedPlacement(plan *api.PlanJobResponse) {
	updates := map[string]*api.DesiredUpdates{}
	if plan.Annotations != nil {
		updates = plan.Annotations.DesiredUpdates
	}
	title, all := "Placement:", "- Everything can be placed."
	if plan.Start != nil {
		updates = plan.Start
		title, all = "Placement of one start:", "- A start could be placed at once."
	}
	p.line("%s", p.style.bold(title))
	for _, group := range slices.Sorted(maps.Keys(updates)) {
		p.line("- %s: %s", group, cmp.Or(desiredInWords(updates[group]), "nothing changes"))
		if nodes := plan.Nodes[group]; len(nodes) > 0 {
			p.line("  started on %s", p.nodesInWords(nodes))
		}
	}
	if len(plan.FailedGroups) == 0 {
		p.line("%s", p.style.green(all))
	} else {
		p.line("%s", p.style.yellow("- Not everything can be placed now; the rest would wait:"))
		p.placementFailures(plan.FailedGroups)
	}
	p.preemptions(plan.Annotations)
	if next := plan.NextPeriodicLaunch; !next.IsZero() {
		p.line("- Registered now, it starts first at %s", dueInWords(p.now, next))
	}
}

// nodesInWords lists nodes with how many of something each has.
func (p *page) nodesInWords(nodes map[string]int) string {
	names := slices.Sorted(maps.Keys(nodes))
	var parts []string
	for i, name := range names {
		if i == plannedNodes && !p.complete && len(names) > plannedNodes+1 {
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
