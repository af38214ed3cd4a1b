// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plantree

import (
	"github.com/reeve-run/reeve/api"
)

// A fold selects the shown part of a tree.
type fold int

// Folds, from the least to the most folding.
const (
	FoldNothing fold = iota
	FoldLong         // runs of quiet steps in phases with more than longPhase steps
	foldQuiet        // all runs of quiet steps
	foldDone         // also all steps of quiet phases
	foldRuns         // all runs of steps in the same status
	foldSteps        // all steps
)

const (
	longPhase = 20 // steps; longer phases are folded
	longRun   = 3  // steps; shorter runs are not folded
)

// A stepRow is one step, or a run of steps in one status.
type stepRow struct {
	step    *api.Step
	status  api.PlanStatus
	count   int
	message string // common message of a run
}

// steps returns the rows of a phase.
func (f fold) steps(phase *api.Phase) []stepRow {
	folds := func(*api.Step) bool { return false }
	least := longRun
	switch {
	case f == foldSteps, f >= foldDone && allQuiet(phase):
		return nil
	case f == foldRuns:
		folds, least = func(*api.Step) bool { return true }, 2
	case f >= foldQuiet, f == FoldLong && len(phase.Steps) > longPhase:
		folds = isQuiet
	}
	var rows []stepRow
	for i := 0; i < len(phase.Steps); {
		run := runOf(phase.Steps[i:], folds)
		if run < least {
			for _, s := range phase.Steps[i : i+max(run, 1)] {
				rows = append(rows, stepRow{step: s})
			}
			i += max(run, 1)
			continue
		}
		rows = append(rows, folded(phase.Steps[i:i+run]))
		i += run
	}
	return rows
}

// runOf counts the steps at the beginning that have the same status and fold.
func runOf(steps []*api.Step, folds func(*api.Step) bool) int {
	n := 0
	for n < len(steps) && folds(steps[n]) && steps[n].Status == steps[0].Status {
		n++
	}
	return n
}

func folded(steps []*api.Step) stepRow {
	row := stepRow{status: steps[0].Status, count: len(steps), message: steps[0].Message}
	for _, s := range steps {
		if s.Message != row.message || row.status == api.PlanComplete {
			row.message = ""
		}
	}
	return row
}

func allQuiet(phase *api.Phase) bool {
	for _, s := range phase.Steps {
		if !isQuiet(s) {
			return false
		}
	}
	return true
}
