// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A frame is what a live tree shows at one moment: pure, so that it can be
// looked at without a terminal.
type frame struct {
	style         style
	now           time.Time
	started       time.Time // when the watching began
	width, height int
	turn          int // how many frames were drawn before
	notice        []string
}

// spinner turns while something is under way.
var spinner = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// frameDecisions is how many decisions a live tree shows.
const frameDecisions = 3

// lines are the frame's lines: never more than fit. What is quiet is folded
// first, then what is below the tree is left out, then more of the tree.
func (f frame) lines(pl *api.Plan) []string {
	head := append([]string{f.head(pl)}, append(f.notice, "")...)
	var tree, foot []string
	room := 0
	for _, try := range []struct {
		fold  fold
		short bool
	}{{foldLong, false}, {foldQuiet, false}, {foldDone, false}, {foldDone, true}, {foldRuns, true}, {foldSteps, true}} {
		foot = f.foot(pl, try.short)
		room = max(f.height-1-len(head)-len(foot), 3)
		if tree = treeLines(pl, f.style, f.now, try.fold); len(tree) <= room {
			break
		}
	}
	if len(tree) > room {
		left := len(tree) - room + 1
		tree = append(tree[:room-1:room-1], f.style.dim(fmt.Sprintf("... %d more lines: make the window higher", left)))
	}
	all := append(append(head, tree...), foot...)
	return all[:min(len(all), max(f.height-1, 1))]
}

// head is one line: whether it moves, of what it is, and how far.
func (f frame) head(pl *api.Plan) string {
	mark := f.style.green("✓")
	switch pl.Status {
	case api.PlanComplete:
	case api.PlanError:
		mark = f.style.red("✗")
	case api.PlanWaiting:
		mark = f.style.yellow("‖")
	default:
		mark = f.style.cyan(string(spinner[f.turn%len(spinner)]))
	}
	text := mark + " " + f.style.bold(planHead(pl))
	if pl.Total > 0 {
		text += "  " + f.bar(pl.Completed, pl.Total)
	}
	return text + "  " + f.style.dim(shortDuration(max(0, f.now.Sub(f.started))))
}

// barWidth is how many characters a bar takes.
const barWidth = 20

// bar draws how much of something is complete.
func (f frame) bar(completed, total int) string {
	full := barWidth * completed / total
	return f.style.green(strings.Repeat("█", full)) + f.style.dim(strings.Repeat("░", barWidth-full)) +
		fmt.Sprintf(" %d of %d", completed, total)
}

// foot is what stands below the tree: errors, decisions, what to type next. The
// short one has only the latter.
func (f frame) foot(pl *api.Plan, short bool) []string {
	var lines []string
	if len(pl.Errors) > 0 && !short {
		lines = append(lines, "")
		for _, e := range pl.Errors[:min(len(pl.Errors), 3)] {
			first, _, _ := strings.Cut(e, "\n")
			lines = append(lines, f.style.red("Error: ")+first)
		}
	}
	if list := pl.Decisions[max(0, len(pl.Decisions)-frameDecisions):]; len(list) > 0 && !short {
		lines = append(lines, "")
		for _, d := range list {
			lines = append(lines, f.style.dim(decided(f.now, d)))
		}
	}
	if next := planNext(pl); len(next) > 0 {
		lines = append(lines, "")
		for _, command := range next {
			lines = append(lines, f.style.bold(command))
		}
	}
	return lines
}
