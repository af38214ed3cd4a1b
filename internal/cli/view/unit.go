// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

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
	if s.Held {
		text += "  held: " + s.To + " takes no requests"
	}
	if s.Reason != "" {
		text += "  " + s.Reason
	}
	return text
}

// ShiftNext suggests commands for a shift.
func ShiftNext(p *term.Page, s *api.Shift) {
	switch s.Status {
	case api.ShiftRunning:
		p.Next("Pause it:    reeve stack shift "+s.Unit+" pause", "Reverse it:  reeve stack shift "+s.Unit+" reverse")
	case api.ShiftPaused, api.ShiftWaiting:
		p.Next("Resume it:   reeve stack shift "+s.Unit+" resume", "Reverse it:  reeve stack shift "+s.Unit+" reverse", "Finish it:   reeve stack shift "+s.Unit+" finish")
	}
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
