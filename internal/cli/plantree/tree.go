// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package plantree turns plans into text: whole trees, the changes between two
// states of a tree, and frames of a live display. It knows neither network nor
// terminal.
package plantree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// A treeText turns a plan into lines: one for the plan, for each phase, and for each
// step or run of folded steps.
type treeText struct {
	style term.Style
	now   time.Time
	fold  fold
	lines []string
}

// unknownWord replaces a missing name, strategy or status.
const unknownWord = "<UNKNOWN>"

// Lines returns the lines of a plan.
func Lines(pl *api.Plan, s term.Style, now time.Time, f fold) []string {
	t := &treeText{style: s, now: now, fold: f}
	t.element("", pl.Name, pl.Strategy, pl.Status, t.planNotes(pl))
	for i, phase := range pl.Phases {
		t.phase(phase, i == len(pl.Phases)-1)
	}
	return t.lines
}

// Branches and trunks of the tree.
const (
	branch     = "├─ "
	lastBranch = "└─ "
	trunk      = "│  "
	noTrunk    = "   "
)

func (t *treeText) phase(phase *api.Phase, last bool) {
	before, below := branch, trunk
	if last {
		before, below = lastBranch, noTrunk
	}
	t.element(before, phase.Name, phase.Strategy, phase.Status, t.phaseNotes(phase))
	rows := t.fold.steps(phase)
	for i, row := range rows {
		before := branch
		if i == len(rows)-1 {
			before = lastBranch
		}
		t.row(below+before, row, phase)
	}
}

// element writes the line of a plan or phase.
func (t *treeText) element(before, name, strategy string, status api.PlanStatus, notes []string) {
	text := fmt.Sprintf("%s (%s strategy) (%s)", cmp.Or(name, unknownWord), cmp.Or(strategy, unknownWord),
		cmp.Or(Status(t.style, status), unknownWord))
	t.write(before, text, notes)
}

func (t *treeText) row(before string, row stepRow, phase *api.Phase) {
	if row.step == nil {
		t.write(before, t.style.Dim(fmt.Sprintf("... %d %s", row.count, wordOf(row.status))), []string{human.Unless(row.message, phase.Message)})
		return
	}
	s := row.step
	t.write(before, fmt.Sprintf("%s (%s)", cmp.Or(s.Name, unknownWord), cmp.Or(Status(t.style, s.Status), unknownWord)), t.stepNotes(s, phase))
}

// write writes one line: an element with its notes.
func (t *treeText) write(before, text string, notes []string) {
	line := t.style.Dim(before) + text
	notes = slices.DeleteFunc(notes, func(n string) bool { return n == "" })
	if notes := strings.Join(notes, ", "); notes != "" {
		line += "  " + notes
	}
	t.lines = append(t.lines, line)
}

func (t *treeText) planNotes(pl *api.Plan) []string {
	var notes []string
	if pl.Total > 0 {
		notes = append(notes, Progress(pl.Completed, pl.Total))
	}
	if pl.Interrupted && pl.Message == "" {
		notes = append(notes, "interrupted")
	}
	if IsUnstarted(pl) && pl.Message == "" {
		notes = append(notes, "not started")
	}
	return append(notes, pl.Message)
}

func (t *treeText) phaseNotes(phase *api.Phase) []string {
	notes := []string{Progress(phase.Completed, phase.Total)}
	if phase.MaxParallel > 1 && phase.Status != api.PlanComplete {
		notes = append(notes, fmt.Sprintf("%d at a time", phase.MaxParallel))
	}
	if len(phase.After) > 0 && phase.Status == api.PlanPending {
		notes = append(notes, "after "+strings.Join(phase.After, ", "))
	}
	if phase.Interrupted && phase.Message == "" {
		notes = append(notes, "interrupted")
	}
	return append(notes, phase.Message)
}

func (t *treeText) stepNotes(s *api.Step, phase *api.Phase) []string {
	var notes []string
	moving := s.Status != api.PlanComplete && s.Status != api.PlanPending
	if time := human.Since(t.now, s.Since); moving && time != "-" {
		notes = append(notes, time)
	}
	if s.Recovery != "" && s.Status != api.PlanComplete {
		notes = append(notes, strings.ToLower(s.Recovery))
	}
	if s.Interrupted && s.Message == "" {
		notes = append(notes, "interrupted")
	}
	if s.Status == api.PlanDelayed && !s.Until.IsZero() {
		notes = append(notes, "continues "+human.Until(t.now, s.Until))
	}
	switch {
	case s.Forced != nil:
		notes = append(notes, "forced by "+decidedBy(t.now, s.Forced))
	case s.Status == api.PlanPending:
		notes = append(notes, human.Unless(s.Message, phase.Message)) // the phase has it already
	default:
		notes = append(notes, s.Message)
	}
	if len(s.After) > 0 && s.Status == api.PlanPending {
		notes = append(notes, "after "+strings.Join(s.After, ", "))
	}
	if moving && s.Status != api.PlanWaiting && s.Allocation != "" {
		notes = append(notes, t.style.Dim("allocation "+api.ShortID(s.Allocation)))
	}
	return notes
}

// WaitsUntil adds the end of the wait to its reason. The zero time is an unknown end.
func WaitsUntil(now time.Time, why string, until time.Time) string {
	switch {
	case until.IsZero():
		return why
	case why == "":
		return "continues " + human.Until(now, until)
	}
	return why + ", continues " + human.Until(now, until)
}

// wordOf formats a status as a word of a sentence.
func wordOf(s api.PlanStatus) string { return strings.ToLower(strings.ReplaceAll(string(s), "_", " ")) }
