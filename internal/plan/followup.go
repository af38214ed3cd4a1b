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

// followUps makes the evaluations for what is due later, and notes them in the
// allocations that wait. Where one is under way already, nothing is done.
func (w *work) followUps() {
	waiting := slices.DeleteFunc(w.due, func(st *step) bool {
		st.on.taken = true
		e := w.evaluation(st.on.alloc.FollowupEvalID)
		return e != nil && !e.IsTerminal()
	})
	slices.SortStableFunc(waiting, func(a, b *step) int { return a.until.Compare(b.until) })
	for len(waiting) > 0 {
		n := 1
		for n < len(waiting) && waiting[n].until.Sub(waiting[0].until) <= together {
			n++
		}
		e := w.followUp(waiting[n-1].until, waiting[0].on.alloc.ID)
		for _, st := range waiting[:n] {
			a := st.on.alloc.Copy()
			a.FollowupEvalID = e.ID
			w.result.Update = append(w.result.Update, a)
		}
		w.result.FollowUps = append(w.result.FollowUps, e)
		waiting = waiting[n:]
	}
}

func (w *work) evaluation(id string) *api.Evaluation {
	if id == "" {
		return nil
	}
	return w.r.Evaluation(id)
}

func (w *work) followUp(due time.Time, about string) *api.Evaluation {
	return &api.Evaluation{
		ID: deriveID(w.eval.ID, "follow-up", about), Namespace: w.key.Namespace, JobID: w.key.ID,
		Priority: w.job.Priority, Type: w.job.Type, TriggeredBy: api.TriggerReschedule,
		JobModifyIndex: w.job.JobModifyIndex, Status: api.EvalStatusPending,
		StatusDescription: "starts failed instances anew when their delay is over",
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
