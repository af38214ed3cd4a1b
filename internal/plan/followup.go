// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// together is how far apart the due times of instances may be that are started
// anew by one evaluation.
const together = time.Second

// An followUp is something to be looked at again at a known time.
type followUp struct {
	about   *api.Allocation
	due     time.Time
	trigger string // of the evaluation
}

// followUps makes the evaluations for what is due later, and notes them in the
// allocations that wait. Where one is under way already, nothing is done.
func (w *work) followUps() {
	waiting := slices.DeleteFunc(w.due, func(p followUp) bool {
		e := w.evaluation(p.about.FollowupEvalID)
		return e != nil && !e.IsTerminal() && e.ID != w.eval.ID && !e.WaitUntil.After(p.due.Add(together))
	})
	slices.SortStableFunc(waiting, func(a, b followUp) int {
		if c := strings.Compare(a.trigger, b.trigger); c != 0 {
			return c
		}
		return a.due.Compare(b.due)
	})
	for len(waiting) > 0 {
		first, n := waiting[0], 1
		for n < len(waiting) && waiting[n].trigger == first.trigger && waiting[n].due.Sub(first.due) <= together {
			n++
		}
		e := w.followUp(first.trigger, waiting[n-1].due, first.about.ID)
		for _, p := range waiting[:n] {
			w.change(p.about).FollowupEvalID = e.ID
		}
		w.result.FollowUps = append(w.result.FollowUps, e)
		waiting = waiting[n:]
	}
}

// addFollowUp makes an evaluation that is not about an allocation, once.
func (w *work) addFollowUp(id string, due time.Time, trigger, why string) {
	if w.evaluation(id) != nil || slices.ContainsFunc(w.result.FollowUps, func(e *api.Evaluation) bool { return e.ID == id }) {
		return
	}
	e := w.followUp(trigger, due, id)
	e.ID, e.StatusDescription = id, why
	w.result.FollowUps = append(w.result.FollowUps, e)
}

func (w *work) evaluation(id string) *api.Evaluation {
	if id == "" {
		return nil
	}
	return w.r.Evaluation(id)
}

func (w *work) followUp(trigger string, due time.Time, about string) *api.Evaluation {
	description := "starts failed instances anew when their delay is over"
	if trigger == api.TriggerMaxDisconnect {
		description = "gives up allocations whose node is out of reach by then"
	}
	return &api.Evaluation{
		ID: deriveID(w.eval.ID, trigger, about), Namespace: w.key.Namespace, JobID: w.key.ID,
		Priority: w.job.Priority, Type: w.job.Type, TriggeredBy: trigger,
		JobModifyIndex: w.job.JobModifyIndex, Status: api.EvalStatusPending,
		StatusDescription: description,
		WaitUntil:         due, PreviousEval: w.eval.ID,
		CreateTime: w.now.UnixNano(), ModifyTime: w.now.UnixNano(),
	}
}

// deriveID makes an identifier in UUID form from what it is about: deriving
// twice from the same gives the same.
func deriveID(parts ...string) string {
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	h[6] = h[6]&0x0f | 0x80 // version 8: made by a method of one's own
	h[8] = h[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}
