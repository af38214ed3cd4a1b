// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/derive"
	"github.com/reeve-run/reeve/internal/plan/ident"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// noteRestart notes in the restart what this evaluation does for it, and whether it
// is over.
func (w *work) noteRestart() {
	if !w.Restart.IsActive() {
		return
	}
	j := w.Restart.Job
	next := j.Copy()
	switch {
	case !w.IsWanted():
		setStatus(next, api.RestartCancelled, api.ReasonRestartJobStopped, api.ReasonRestartJobStopped.Text())
	case w.Rollout.IsUnderWay():
		setStatus(next, api.RestartCancelled, api.ReasonRestartDeployed, api.RestartDeployedText(w.Job.Version))
	default:
		w.continueRestart(next)
	}
	if !sameRestart(j, next) {
		next.UpdatedAt = w.Now.UTC()
		w.result.Restart = next
	}
}

// continueRestart continues the restart with what its plan does now.
func (w *work) continueRestart(j *api.JobRestart) {
	p := w.Restart.Tree.Phases[0]
	if unwell := w.Restart.Unwell; len(unwell) > 0 {
		tripped := derive.Tripped(j, unwell)
		j.UnhealthyAllocs = append(j.UnhealthyAllocs, unwell...)
		if tripped && j.OnError == api.RestartOnErrorFail {
			j.NextBatch = time.Time{}
			setStatus(j, api.RestartFailed, api.ReasonRestartFailed, api.RestartProgressText(api.ReasonRestartFailed, j))
			return
		}
		if tripped {
			setStatus(j, api.RestartPaused, api.ReasonRestartTripped, api.RestartProgressText(api.ReasonRestartTripped, j))
		}
	}
	if len(p.Chosen) > 0 {
		for _, st := range p.Chosen {
			j.RestartedAllocs = append(j.RestartedAllocs, st.On.Alloc.ID)
		}
		j.NextBatch = time.Time{}
		return
	}
	open, waits := 0, false
	for i := range p.Steps {
		if st := &p.Steps[i]; st.Status != tree.Complete {
			open++
			waits = waits || st.Status == tree.Delayed
		}
	}
	switch {
	case open == 0 && j.Status == api.RestartPaused && j.OnError == api.RestartOnErrorPause && len(j.UnhealthyAllocs) > j.MaxUnhealthy:
		// The last batch came back badly: nobody is to take it for done unseen.
	case open == 0:
		j.NextBatch = time.Time{}
		setStatus(j, api.RestartComplete, api.ReasonRestartComplete, api.RestartProgressText(api.ReasonRestartComplete, j))
	case waits && j.NextBatch.IsZero():
		j.NextBatch = w.Now.Add(j.BatchWait).UTC()
	}
	if waits && j.IsActive() && j.NextBatch.After(w.Now) {
		w.addFollowUp(ident.Derive("batch", j.ID, fmt.Sprint(len(j.RestartedAllocs)), fmt.Sprint(j.NextBatch.UnixNano())), j.NextBatch, api.TriggerRestart, api.ReasonEvalRestartBatch)
	}
}

func setStatus(j *api.JobRestart, status string, reason api.Reason, description string) {
	j.Status, j.StatusReason, j.StatusDescription = status, reason, description
}

// sameRestart reports whether nothing of it has changed.
func sameRestart(a, b *api.JobRestart) bool {
	return a.Status == b.Status && len(a.RestartedAllocs) == len(b.RestartedAllocs) &&
		len(a.UnhealthyAllocs) == len(b.UnhealthyAllocs) && a.NextBatch.Equal(b.NextBatch)
}
