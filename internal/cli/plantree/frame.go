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

// A Frame is one frame of a live tree. It is pure, so that tests need no terminal.
type Frame struct {
	Style         term.Style
	Now           time.Time
	Started       time.Time // start of the watch
	Width, Height int
	Turn          int // number of earlier frames
	Notice        []string
}

// spinner shows activity.
var spinner = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// frameDecisions limits the decisions of a live tree.
const frameDecisions = 3

// Lines returns the lines of the frame, at most as many as fit. It folds quiet steps
// first, then omits the lines below the tree, then more of the tree.
func (f Frame) Lines(pl *api.Plan) []string {
	head := append([]string{f.head(pl)}, append(f.Notice, "")...)
	var tree, foot []string
	room := 0
	for _, try := range []struct {
		fold  fold
		short bool
	}{{FoldLong, false}, {foldQuiet, false}, {foldDone, false}, {foldDone, true}, {foldRuns, true}, {foldSteps, true}} {
		foot = f.foot(pl, try.short)
		room = max(f.Height-1-len(head)-len(foot), 3)
		if tree = Lines(pl, f.Style, f.Now, try.fold); len(tree) <= room {
			break
		}
	}
	if len(tree) > room {
		left := len(tree) - room + 1
		tree = append(tree[:room-1:room-1], f.Style.Dim(fmt.Sprintf("... %d more lines: enlarge the window", left)))
	}
	all := append(append(head, tree...), foot...)
	return all[:min(len(all), max(f.Height-1, 1))]
}

// head is the first line: activity, plan and progress.
func (f Frame) head(pl *api.Plan) string {
	mark := f.Style.Green("✓")
	switch pl.Status {
	case api.PlanComplete:
	case api.PlanError:
		mark = f.Style.Red("✗")
	case api.PlanWaiting:
		mark = f.Style.Yellow("‖")
	default:
		mark = f.Style.Cyan(string(spinner[f.Turn%len(spinner)]))
	}
	text := mark + " " + f.Style.Bold(Head(pl))
	if pl.Total > 0 {
		text += "  " + f.bar(pl.Completed, pl.Total)
	}
	return text + "  " + f.Style.Dim(human.Duration(max(0, f.Now.Sub(f.Started))))
}

// barWidth is the width of the progress bar, in characters.
const barWidth = 20

// bar draws the completed fraction.
func (f Frame) bar(completed, total int) string {
	full := barWidth * completed / total
	return f.Style.Green(strings.Repeat("█", full)) + f.Style.Dim(strings.Repeat("░", barWidth-full)) +
		fmt.Sprintf(" %d of %d", completed, total)
}

// foot returns the lines below the tree: errors, decisions, next commands. The short
// form has only the next commands.
func (f Frame) foot(pl *api.Plan, short bool) []string {
	var lines []string
	if len(pl.Errors) > 0 && !short {
		lines = append(lines, "")
		for _, e := range pl.Errors[:min(len(pl.Errors), 3)] {
			first, _, _ := strings.Cut(e, "\n")
			lines = append(lines, f.Style.Red("Error: ")+first)
		}
	}
	if list := pl.Decisions[max(0, len(pl.Decisions)-frameDecisions):]; len(list) > 0 && !short {
		lines = append(lines, "")
		for _, d := range list {
			lines = append(lines, f.Style.Dim(Decided(f.Now, d)))
		}
	}
	if next := Next(pl); len(next) > 0 {
		lines = append(lines, "")
		for _, command := range next {
			lines = append(lines, f.Style.Bold(command))
		}
	}
	return lines
}
