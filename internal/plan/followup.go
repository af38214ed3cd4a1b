// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/ident"
	"github.com/reeve-run/reeve/internal/plan/reschedule"
)

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
		return e != nil && !e.IsTerminal() && e.ID != w.Eval.ID && !e.WaitUntil.After(p.due.Add(reschedule.Together))
	})
	slices.SortStableFunc(waiting, func(a, b followUp) int {
		if c := strings.Compare(a.trigger, b.trigger); c != 0 {
			return c
		}
		return a.due.Compare(b.due)
	})
	for len(waiting) > 0 {
		first, n := waiting[0], 1
		for n < len(waiting) && waiting[n].trigger == first.trigger && waiting[n].due.Sub(first.due) <= reschedule.Together {
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
func (w *work) addFollowUp(id string, due time.Time, trigger string, reason api.Reason) {
	if w.evaluation(id) != nil || slices.ContainsFunc(w.result.FollowUps, func(e *api.Evaluation) bool { return e.ID == id }) {
		return
	}
	e := w.followUp(trigger, due, id)
	e.ID, e.StatusReason, e.StatusDescription = id, reason, reason.Text()
	w.result.FollowUps = append(w.result.FollowUps, e)
}

func (w *work) evaluation(id string) *api.Evaluation {
	if id == "" {
		return nil
	}
	return w.R.Evaluation(id)
}

func (w *work) followUp(trigger string, due time.Time, about string) *api.Evaluation {
	reason := api.ReasonEvalReschedule
	if trigger == api.TriggerMaxDisconnect {
		reason = api.ReasonEvalMaxDisconnect
	}
	return &api.Evaluation{
		ID: ident.Derive(w.Eval.ID, trigger, about), Namespace: w.Key.Namespace, JobID: w.Key.ID,
		Priority: w.Job.Priority, Type: w.Job.Type, TriggeredBy: trigger,
		JobModifyIndex: w.Job.JobModifyIndex, Status: api.EvalStatusPending,
		StatusReason: reason, StatusDescription: reason.Text(),
		WaitUntil: due, PreviousEval: w.Eval.ID,
		CreateTime: w.Now.UnixNano(), ModifyTime: w.Now.UnixNano(),
	}
}
