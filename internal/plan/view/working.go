// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"github.com/reeve-run/reeve/internal/plan/decision"
	"github.com/reeve-run/reeve/internal/plan/derive"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// A activeStep is a step that is not complete, and its plan.
type activeStep struct {
	plan string
	step *tree.Step
}

// idle are the statuses of steps that somebody or something else is waited for.
var idle = tree.Mask(tree.Pending, tree.Waiting)

// working finds the plan that works on each instance: the first in the order of
// their priority that does something, or is about to; else the first that waits.
func (v *View) working() map[decision.Place]activeStep {
	works := make(map[decision.Place]activeStep)
	for _, t := range v.Trees {
		for _, p := range t.Phases {
			for i := range p.Steps {
				st := &p.Steps[i]
				if st.On == nil || st.Status == tree.Complete || t.Run == "" && derive.IsCustom(v.Job, t.Name) {
					continue
				}
				if w, ok := works[st.On.Place()]; !ok || tree.MaskOf(w.step.Shown())&idle != 0 && tree.MaskOf(st.Shown())&idle == 0 {
					works[st.On.Place()] = activeStep{t.Name, st}
				}
			}
		}
	}
	return works
}
