// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/plantree"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// Plans writes a list of plans.
func Plans(p *term.Page, list []*api.Plan, ofAllJobs, namespaces bool) {
	var heading []string
	if ofAllJobs {
		heading = append(heading, "Job")
	}
	heading = append(heading, "Plan", "Status", "Done", "For", "Waits for")
	if namespaces {
		heading = append(heading, "Namespace")
	}
	var rows [][]string
	for _, pl := range list {
		if pl.Total == 0 && pl.Status == api.PlanComplete {
			continue
		}
		var row []string
		if ofAllJobs {
			row = append(row, pl.JobID)
		}
		row = append(row, pl.Name, plantree.Status(p.Style, pl.Status), plantree.Progress(pl.Completed, pl.Total), human.Since(p.Now, pl.Since), human.Dash(planMessage(p.Now, pl)))
		if namespaces {
			row = append(row, pl.Namespace)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		p.Line("No plan has work.")
		return
	}
	p.Table(heading, rows)
	if pl := WorthFollowing(list); pl != nil {
		p.Next(fmt.Sprintf("Follow it:  reeve plan show -watch%s %s %s", plantree.NamespaceFlag(pl), human.ShellQuote(pl.JobID), human.ShellQuote(pl.Name)))
	}
}

// WorthFollowing returns the first plan that progresses by itself, else the first active
// plan, or nil.
func WorthFollowing(list []*api.Plan) *api.Plan {
	var first *api.Plan
	for _, pl := range list {
		switch {
		case !plantree.IsUnderWay(pl):
		case pl.Status != api.PlanWaiting && pl.Status != api.PlanError:
			return pl
		case first == nil:
			first = pl
		}
	}
	return first
}

// activePlans writes the active plans of a job.
func activePlans(p *term.Page, list []*api.Plan) {
	if len(list) == 0 {
		return
	}
	p.Section("Plans")
	var rows [][]string
	for _, pl := range list {
		rows = append(rows, []string{pl.Name, plantree.Status(p.Style, pl.Status), plantree.Progress(pl.Completed, pl.Total), human.Dash(planMessage(p.Now, pl)), p.Style.Dim(showCommand(pl))})
	}
	p.Table([]string{"Plan", "Status", "Done", "Waits for", "Details"}, rows)
}

// showCommand returns the command that shows a plan.
func showCommand(pl *api.Plan) string {
	return "reeve plan show" + plantree.NamespaceFlag(pl) + " " + human.ShellQuote(pl.JobID) + " " + human.ShellQuote(pl.Name)
}

// planMessage describes the reason why a plan waits, and the end of the wait.
func planMessage(now time.Time, pl *api.Plan) string {
	switch {
	case pl.Message != "" || !pl.Until.IsZero():
		return plantree.WaitsUntil(now, pl.Message, pl.Until)
	case len(pl.Errors) > 0:
		return pl.Errors[0]
	case plantree.IsUnstarted(pl):
		return "an operator to start it"
	}
	return ""
}

// PlanTree writes a plan with its errors, decisions and next commands.
func PlanTree(p *term.Page, pl *api.Plan, wide bool) {
	f := plantree.FoldLong
	if wide {
		f = plantree.FoldNothing
	}
	p.Line("%s", p.Style.Bold(plantree.Head(pl)))
	for _, line := range plantree.Lines(pl, p.Style, p.Now, f) {
		p.Line("%s", line)
	}
	planErrors(p, pl)
	decisions(p, pl.Decisions)
	p.Next(plantree.Next(pl)...)
}

// planErrors lists the errors of a plan.
func planErrors(p *term.Page, pl *api.Plan) {
	if len(pl.Errors) == 0 {
		return
	}
	p.Section("Errors:")
	for _, e := range pl.Errors {
		p.Line("- %s", strings.ReplaceAll(e, "\n", "\n  "))
	}
}

// decisionsShown limits the listed decisions to the newest ones.
const decisionsShown = 8

// decisions lists decisions of operators, oldest first.
func decisions(p *term.Page, list []*api.Decision) {
	if len(list) == 0 {
		return
	}
	p.Section("Decisions:")
	if n := len(list) - decisionsShown; n > 0 {
		p.Line("- ... %d earlier", n)
		list = list[n:]
	}
	for _, d := range list {
		p.Line("- %s", plantree.Decided(p.Now, d))
	}
}
