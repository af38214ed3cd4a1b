// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// Units writes a list of units.
func Units(p *term.Page, list []*api.UnitStatus) {
	if len(list) == 0 {
		p.Line("No units.")
		p.Next("Deploy a stack:  reeve stack deploy FILE")
		return
	}
	var rows [][]string
	for _, u := range list {
		target := "-"
		for _, s := range u.Stacks {
			if s.Target {
				target = s.Version.String()
				break
			}
		}
		rows = append(rows, []string{u.Name, u.Namespace, target, strconv.Itoa(len(u.Stacks)), deprecated(u)})
	}
	p.Table([]string{"Unit", "Namespace", "Target", "Stacks", "Deprecated"}, rows)
}

func deprecated(u *api.UnitStatus) string {
	var versions []string
	for _, rules := range []*api.Unit{u.Rules, u.Global} {
		if rules != nil {
			for _, d := range rules.Deprecated {
				versions = append(versions, d.Version.String())
			}
		}
	}
	return human.Dash(strings.Join(versions, ", "))
}

// Unit writes a unit with its stacks and shifts.
func Unit(p *term.Page, u *api.UnitStatus) {
	fields := []term.Field{{"Unit", u.Name}, {"Namespace", u.Namespace}, {"Deprecated", deprecated(u)}}
	if u.Rules != nil && len(u.Rules.Tags) > 0 {
		var tags []string
		for _, tag := range slices.Sorted(maps.Keys(u.Rules.Tags)) {
			tags = append(tags, tag+" "+u.Rules.Tags[tag].String())
		}
		fields = append(fields, term.Field{"Tags", strings.Join(tags, ", ")})
	}
	if u.Rules != nil && u.Rules.Policy != nil {
		fields = append(fields, term.Field{"Policy", u.Rules.Policy.Name + ", of all stacks"})
	}
	p.Fields(fields...)
	if len(u.Stacks) > 0 {
		p.Section("Stacks")
		p.Table([]string{"Stack", "State", "Share", "Callers", "Expires", "Why"}, stackRows(p, u.Stacks))
	}
	for _, s := range u.Shifts {
		p.Section("Shift")
		p.Line("%s", ShiftLine(s))
		ShiftNext(p, s)
	}
}

// ShiftLine describes the progress of a shift in a line.
func ShiftLine(s *api.Shift) string {
	text := fmt.Sprintf("shift %s to %s  %s  %s", s.From, s.To, s.Status, formatShare(s.Share))
	if f := s.Traffic; f != nil && f.To.Requests+f.From.Requests > 0 {
		text += "  " + shiftFigures(f)
	}
	if s.Reason != "" {
		text += "  " + s.Reason
	}
	return text
}

// shiftFigures describes the requests to the newer stack of a shift, with the figures of the older one
// in brackets.
func shiftFigures(f *api.ShiftTraffic) string {
	text := fmt.Sprintf("%.4g req/s  5xx %.1f %% (from %.1f %%)", math.Round(f.To.Rate*10)/10, f.To.Errors*100, f.From.Errors*100)
	if f.To.Requests == 0 {
		return text
	}
	text += "  p99 " + milliseconds(f.To.P99) + " ms"
	if f.From.Requests > 0 {
		text += " (" + milliseconds(f.From.P99) + ")"
	}
	return text
}

// milliseconds formats a duration as a number of milliseconds with two digits or more.
func milliseconds(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	if ms >= 10 {
		return strconv.FormatFloat(ms, 'f', 0, 64)
	}
	return strconv.FormatFloat(ms, 'g', 2, 64)
}

// ShiftNext suggests commands for a shift.
func ShiftNext(p *term.Page, s *api.Shift) { p.Next(ShiftCommands(s)...) }

// ShiftCommands returns commands for a shift.
func ShiftCommands(s *api.Shift) []string {
	command := "reeve stack shift " + s.Unit
	switch s.Status {
	case api.ShiftRunning:
		return []string{"Pause it:    " + command + " pause", "Reverse it:  " + command + " reverse"}
	case api.ShiftPaused, api.ShiftWaiting:
		return []string{"Resume it:   " + command + " resume", "Reverse it:  " + command + " reverse", "Finish it:   " + command + " finish"}
	}
	return nil
}

// A RetentionPolicy is a policy with its explanation.
type RetentionPolicy struct {
	Name        string
	Description string
}

// Policies lists the retention policies.
var Policies = []RetentionPolicy{
	{api.RetainActive, "keeps the current target of a major version until it has been without callers for its idle time; the default of services"},
	{api.RetainLatest, "keeps the newest version; the default of jobs without ports and of periodic jobs"},
	{api.RetainTwoMajor, "keeps the newest version of the two newest major versions"},
	{api.RetainTwoFeature, "keeps the newest patch of the two newest minor versions"},
	{api.RetainUntilDeprecated, "keeps every version until it is deprecated"},
	{api.RetainAlways, "keeps every version"},
}

// RetentionPolicies explains the retention policies.
func RetentionPolicies(p *term.Page) {
	var rows [][]string
	for _, policy := range Policies {
		rows = append(rows, []string{policy.Name, policy.Description})
	}
	p.Table([]string{"Policy", "Keeps"}, rows)
	p.Line("")
	p.Line("Every policy keeps a stack that has callers, a tag, or traffic.")
}
