// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
)

// noteAbsences notes which allocations are out of reach, and when those will be
// lost.
func (w *work) noteAbsences() {
	for _, g := range w.Groups {
		for in := range g.Every {
			if in.State == facts.Unknown {
				w.noteAbsence(in.Alloc)
			}
		}
		for _, a := range g.Behind {
			if w.stopped[a] {
				continue
			}
			w.noteAbsence(a)
			if !w.IsUnreachable(a) {
				w.result.Kept = append(w.result.Kept, a)
			}
		}
	}
}

func (w *work) noteAbsence(a *api.Allocation) {
	ab := w.AbsenceOf(a)
	if ab == nil {
		return
	}
	if a.ClientStatus != api.AllocClientUnknown {
		c := w.change(a)
		c.ClientStatus, c.ClientDescription = api.AllocClientUnknown, "its node is out of reach"
		w.counts(a.Group).Disconnect++
	}
	if !ab.Until.IsZero() {
		w.due = append(w.due, followUp{a, ab.Until, api.TriggerMaxDisconnect})
	}
}
