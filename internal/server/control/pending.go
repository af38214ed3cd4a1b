// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/state"
)

// pending fails jobs of which an instance has waited for a place for longer than
// the job allows.
type pending struct{}

// NewPending returns the controller of jobs with max_pending. Its keys are jobs.
func NewPending() Controller { return pending{} }

func (pending) Name() string { return "pending" }

func (pending) All(snap *state.Snapshot) (keys []string) {
	for job := range snap.Jobs() {
		if mayWaitInVain(job) {
			keys = append(keys, jobKey(job.Key()))
		}
	}
	return keys
}

func (pending) Touched(c *state.Change, add func(string)) {
	switch c.Table {
	case state.TableJobs:
		if job, _ := c.New.(*api.Job); mayWaitInVain(job) {
			add(jobKey(job.Key()))
		}
	case state.TableAllocations:
		if a, _ := c.New.(*api.Allocation); a != nil && mayWaitInVain(a.Job) {
			add(jobKey(a.JobKey()))
		}
	}
}

// mayWaitInVain reports whether there is an end to how long instances of the job
// may wait.
func mayWaitInVain(job *api.Job) bool {
	return job != nil && job.MaxPending != nil && !job.Stop && job.Failure == nil && !job.IsPeriodic() && !job.IsParameterized() &&
		job.Status != api.JobStatusDead
}

func (pending) Act(snap *state.Snapshot, key string, now time.Time) ([]state.Command, time.Time) {
	id := parseJobKey(key)
	job := snap.Job(id.Namespace, id.ID)
	if !mayWaitInVain(job) {
		return nil, time.Time{}
	}
	waits := view.Waits(snap, job, now)
	if len(waits) == 0 {
		return nil, time.Time{}
	}
	end := waits[0].Since.Add(*job.MaxPending)
	if now.Before(end) {
		return nil, end
	}
	return []state.Command{&state.FailJob{
		Namespace: job.Namespace, ID: job.ID, JobModifyIndex: job.JobModifyIndex, Time: now.UnixNano(),
		Reason: whyInVain(waits, *job.MaxPending, end),
	}}, time.Time{}
}

// whyInVain says what was waited for.
func whyInVain(waits []view.Wait, limit time.Duration, end time.Time) string {
	others := 0
	for _, w := range waits[1:] {
		if !w.Since.Add(limit).After(end) {
			others++
		}
	}
	words := "instance " + waits[0].Instance + " was"
	if others == 1 {
		words = "instance " + waits[0].Instance + " and another one were"
	} else if others > 1 {
		words = fmt.Sprintf("instance %s and %d others were", waits[0].Instance, others)
	}
	words += fmt.Sprintf(" not placed within max_pending of %s", limit)
	if why := waits[0].Why; why != "" {
		words += ": " + why
	}
	return words
}
