// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// Stacks writes a list of stacks.
func Stacks(p *term.Page, list []*api.StackStatus) {
	if len(list) == 0 {
		p.Line("No stacks.")
		p.Next("Deploy one:  reeve stack deploy FILE")
		return
	}
	p.Table([]string{"Stack", "State", "Share", "Callers", "Expires", "Why"}, stackRows(p, list))
	for _, s := range list {
		if s.Status == api.StackGarbage && !s.Removing {
			p.Next("Rescue it:  reeve stack rescue " + s.Name)
			return
		}
	}
}

func stackRows(p *term.Page, list []*api.StackStatus) (rows [][]string) {
	for _, s := range list {
		why := human.Dash(whyStack(s))
		if s.Trouble != "" {
			why = p.Style.Yellow("in trouble:") + " " + s.Trouble
		}
		rows = append(rows, []string{s.Name, stackState(p, s.Shown), stackShare(s), callers(s.Callers), expiry(p.Now, s), why})
	}
	return rows
}

func stackState(p *term.Page, state string) string {
	switch state {
	case api.StackReady:
		return p.Style.Green(state)
	case api.StackFailed:
		return p.Style.Red(state)
	case api.StackDeprecated, api.StackGarbage:
		return p.Style.Yellow(state)
	}
	return p.Style.Cyan(state)
}

func stackShare(s *api.StackStatus) string {
	if s.Status != api.StackReady || !hasShare(s) {
		return "-"
	}
	return formatShare(s.Share)
}

// hasShare reports whether callers can send requests to a stack.
func hasShare(s *api.StackStatus) bool { return s.Shape == api.ShapeService || s.IsExternal() }

func formatShare(share float64) string {
	return strconv.FormatFloat(math.Round(share*10000)/100, 'f', -1, 64) + " %"
}

// callers names the first few callers of a stack.
func callers(names []string) string {
	const few = 3
	if len(names) == 0 {
		return "-"
	}
	text := strings.Join(names[:min(few, len(names))], ", ")
	if more := len(names) - few; more > 0 {
		text += fmt.Sprintf(" +%d", more)
	}
	return text
}

func expiry(now time.Time, s *api.StackStatus) string {
	switch {
	case s.IsHeld(now):
		return "held"
	case s.Expires.IsZero() || s.Status == api.StackTerminated:
		return "-"
	case s.Expires.After(now):
		return "in " + human.Duration(s.Expires.Sub(now))
	}
	return "now"
}

// whyStack says why a stack is kept, or why it has its state.
func whyStack(s *api.StackStatus) string {
	if s.Status == api.StackReady && s.Verdict != nil && !isOutdated(s) {
		if s.Verdict.Kept {
			return s.Why
		}
		return "not kept: " + s.Why
	}
	return standing(s)
}

// isOutdated reports whether the callers of a stack contradict the verdict of the last sweep: traffic has moved
// since.
func isOutdated(s *api.StackStatus) bool {
	called := func(name string) bool { return slices.Contains(s.Callers, name) }
	switch v := s.Verdict; v.Reason {
	case api.KeptCalled:
		return !slices.ContainsFunc(v.Callers, called)
	case api.KeptExposed, api.KeptTagged, api.KeptObserved:
		return !called(v.Subject)
	case api.KeptHeld, api.KeptStale, api.DeclinedCrowded:
		return false
	default:
		return !v.Kept && len(s.Callers) > 0
	}
}

// standing says why a stack has its state. Servers of earlier versions send only the stored reason.
func standing(s *api.StackStatus) string { return cmp.Or(s.Standing, s.StatusText()) }

// StackLine describes the state of a stack in a line.
func StackLine(s *api.StackStatus) string {
	text := fmt.Sprintf("%s  %s", s.Name, s.Shown)
	if s.Status == api.StackReady && hasShare(s) {
		text += "  share " + formatShare(s.Share)
	}
	switch why := standing(s); {
	case s.Warm != nil && (!s.Warm.Done || s.Status == api.StackDeploying):
		text += "  " + s.Warm.String()
	case why != "":
		text += "  " + why
	}
	return text
}

// StackNext suggests commands for a stack.
func StackNext(p *term.Page, s *api.StackStatus) {
	switch s.Status {
	case api.StackDeploying, api.StackWarming:
		if s.Trouble != "" {
			p.Next("See its instances:  reeve job status " + JobArgs(s.Namespace, s.Name))
		}
	case api.StackFailed:
		p.Next("See what happened:  reeve stack why "+s.Name, "See its job:        reeve job status "+s.Name)
	case api.StackGarbage:
		if !s.Removing {
			p.Next("Rescue it:  reeve stack rescue " + s.Name)
		}
	case api.StackReady:
		p.Next("See why it is kept:  reeve stack why " + s.Name)
	}
}

// Stack writes a stack with its audit records.
func Stack(p *term.Page, s *api.StackStatus, records []*api.AuditRecord) {
	fields := []term.Field{
		{"Stack", s.Name}, {"Unit", s.Unit + " " + s.Version.String()}, {"Namespace", s.Namespace},
		{"State", strings.TrimSpace(stackState(p, s.Shown) + "  " + standing(s))},
		{"Share", stackShare(s)}, {"Callers", callers(s.Callers)},
		{"Policy", policyOf(s)}, {"Expires", expiry(p.Now, s)}, {"Kept", human.Dash(whyStack(s))},
		{"Job", cmp.Or(s.JobState, "-")},
	}
	if s.IsExternal() {
		fields[len(fields)-1] = term.Field{"Address", s.Address + ", outside of Reeve"}
	}
	if s.Trouble != "" {
		fields = append(fields, term.Field{"Trouble", p.Style.Yellow(s.Trouble)})
	}
	if s.Warm != nil {
		fields = append(fields, term.Field{"Warm-up", warmUp(s.Warm)})
	}
	p.Fields(fields...)
	if len(records) > 0 {
		p.Section("History")
		AuditRecords(p, records)
	}
	StackNext(p, s)
}

func policyOf(s *api.StackStatus) string {
	if s.Spec != nil && s.Spec.Policy != nil {
		return s.Spec.Policy.Name
	}
	return api.DefaultRetention(s.Shape).Name
}

// AuditRecords writes audit records, newest first.
func AuditRecords(p *term.Page, records []*api.AuditRecord) {
	if len(records) == 0 {
		p.Line("Nothing is recorded.")
		return
	}
	var rows [][]string
	for _, r := range records {
		what := r.Action
		if r.Kind == api.AuditShift {
			what = "shift " + what
		}
		rows = append(rows, []string{human.Age(p.Now, r.Time), what, human.Dash(r.By), human.Dash(r.Reason)})
	}
	p.Table([]string{"When", "What", "By", "Why"}, rows)
}

// Deployed writes the outcome of a deployment of stacks.
func Deployed(p *term.Page, res *api.DeployStacksResponse) {
	for _, s := range res.Stacks {
		p.Line("%s", StackLine(s))
	}
	for _, s := range res.Stacks {
		if s.Status == api.StackFailed {
			StackNext(p, s)
			return
		}
	}
}

// StackPlan writes what a deployment would do.
func StackPlan(p *term.Page, res *api.DeployStacksResponse, files, from []string) {
	for i, s := range res.Stacks {
		if res.Existing[i] {
			p.Line("%s %s is deployed already, as %s.", s.Unit, s.Version, s.Name)
			continue
		}
		p.Line("%s %s would be deployed as a new stack.", s.Unit, s.Version)
	}
	var quoted []string
	for _, f := range files {
		quoted = append(quoted, human.ShellQuote(f))
	}
	for _, source := range from {
		quoted = append(quoted, "-from "+human.ShellQuote(source))
	}
	p.Next("Deploy:  reeve stack deploy " + strings.Join(quoted, " "))
}

// StackGraph writes what uses what.
func StackGraph(p *term.Page, g *api.StackGraph) {
	if len(g.Nodes) == 0 {
		p.Line("No stacks.")
		return
	}
	used := make(map[string]bool)
	var rows [][]string
	for _, e := range g.Edges {
		used[e.To] = true
		rows = append(rows, []string{e.From, e.To, human.Dash(e.Want), formatShare(e.Share), e.Kind})
	}
	for _, s := range g.Nodes {
		if !used[s.Name] {
			rows = append(rows, []string{"-", s.Name, "-", "-", "not used"})
		}
	}
	p.Table([]string{"From", "To", "Wants", "Share", "Kind"}, rows)
}

// Sweep writes the decisions of a sweep: those that change a stack, or all.
func Sweep(p *term.Page, res *api.SweepResponse, all bool) {
	var rows [][]string
	for _, d := range res.Decisions {
		if all || d.Action != "" {
			rows = append(rows, []string{d.Stack, cmp.Or(d.Action, map[bool]string{true: "kept", false: "declined"}[d.Verdict.Kept]), d.Why})
		}
	}
	if len(rows) == 0 {
		p.Line("The sweep changes nothing of %s.", human.Count(len(res.Decisions), "stack", "stacks"))
		return
	}
	p.Table([]string{"Stack", "Decision", "Why"}, rows)
}
