// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plantree

import (
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// A Log reports changes of a plan line by line, for output that cannot be redrawn.
type Log struct {
	Style term.Style
	known map[string]string // last report, by id of plan, phase or step
}

// maxChanged limits the steps that one response reports individually.
const maxChanged = 20

// Changes returns lines about changes since the last call. The first call returns the
// whole tree.
func (l *Log) Changes(pl *api.Plan, now time.Time) []string {
	first := l.known == nil
	if first {
		l.known = map[string]string{}
	}
	var lines []string
	at := now.Format(time.TimeOnly)
	element := func(id, name string, status api.PlanStatus, note string) {
		line := fmt.Sprintf("%s (%s)", name, Status(l.Style, status))
		if note != "" {
			line += "  " + note
		}
		was := l.known[id]
		l.known[id] = line
		if done := fmt.Sprintf("%s (%s)", name, Status(l.Style, status)); was != line && !(status == api.PlanComplete && strings.HasPrefix(was, done)) {
			lines = append(lines, at+" "+line)
		}
	}
	more := map[api.PlanStatus]int{}
	for _, phase := range pl.Phases {
		for _, s := range phase.Steps {
			note := stepNote(s, now)
			if line := string(s.Status) + note; l.known[s.ID] == line {
				continue
			} else if len(lines) >= maxChanged {
				l.known[s.ID] = line
				more[s.Status]++
				continue
			} else {
				l.known[s.ID] = line
			}
			text := fmt.Sprintf("%s %s (%s)", at, s.Name, Status(l.Style, s.Status))
			if note != "" {
				text += "  " + note
			}
			lines = append(lines, text)
		}
	}
	for _, status := range Statuses {
		if more[status] > 0 {
			lines = append(lines, fmt.Sprintf("%s ... %s (%s)", at, human.Count(more[status], "more step", "more steps"), Status(l.Style, status)))
		}
	}
	for _, phase := range pl.Phases {
		element(phase.ID, "phase "+phase.Name, phase.Status, phase.Message)
	}
	element(pl.ID, "plan "+pl.Name, pl.Status, pl.Message)
	for _, d := range pl.Decisions {
		if _, ok := l.known[d.ID]; !ok {
			l.known[d.ID] = ""
			lines = append(lines, at+" "+Decided(now, d))
		}
	}
	if first {
		return append([]string{Head(pl)}, Lines(pl, l.Style, now, FoldLong)...)
	}
	return lines
}

// stepNote describes a step in addition to its status.
func stepNote(s *api.Step, now time.Time) string {
	switch {
	case s.Forced != nil:
		return "forced by " + decidedBy(time.Unix(0, s.Forced.Time), s.Forced)
	case s.Status == api.PlanComplete:
		return s.Message
	case s.Status == api.PlanDelayed && !s.Until.IsZero():
		until := "until " + s.Until.In(now.Location()).Format(time.TimeOnly)
		if s.Message != "" {
			return s.Message + ", " + until
		}
		return until
	}
	return s.Message
}
