// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// periodic starts the children of periodic jobs when they are due. Which due
// time was dealt with last is part of the state, and moves in the same command
// that makes the child: so a due time is met once, whoever leads, and however
// often the leader is killed. Of those that passed while nobody led, the latest
// is made up for, the others are not.
type periodic struct{}

// NewPeriodic returns the controller of periodic jobs. Its keys are jobs.
func NewPeriodic() Controller { return periodic{} }

func (periodic) Name() string { return "periodic" }

func (periodic) All(snap *state.Snapshot) (keys []string) {
	for job := range snap.Jobs() {
		if starts(job) {
			keys = append(keys, jobKey(job.Key()))
		}
	}
	return keys
}

func (periodic) Touched(c *state.Change, add func(string)) {
	if c.Table != state.TableJobs {
		return
	}
	if job, _ := c.New.(*api.Job); job != nil && job.IsPeriodic() {
		add(jobKey(job.Key()))
	}
}

// starts reports whether the job starts others by a schedule.
func starts(job *api.Job) bool {
	return job != nil && job.IsPeriodic() && !job.Stop && job.Periodic.IsEnabled()
}

func (periodic) Act(snap *state.Snapshot, key string, now time.Time) ([]state.Command, time.Time) {
	id := parseJobKey(key)
	job := snap.Job(id.Namespace, id.ID)
	if !starts(job) {
		return nil, time.Time{}
	}
	schedule, err := job.Periodic.Schedule()
	if err != nil {
		return nil, time.Time{} // validated when it was registered; the zone is gone from this machine
	}
	due := schedule.Latest(lastDue(snap, job), now)
	next := schedule.Next(now)
	if due.IsZero() {
		return nil, next
	}
	cmd := Launch(job, api.PeriodicChildID(job.ID, due), api.NewID(), api.TriggerPeriodicJob, now)
	cmd.Due = due.UnixNano()
	if job.Periodic.ForbidsOverlap() {
		cmd.Exclusive = true
		if n := snap.ChildrenCount(id.Namespace, id.ID); n.Pending+n.Running > 0 {
			cmd.Skip, cmd.Exclusive, cmd.Evaluation = true, false, nil
		}
	}
	if job.Stack != nil && !firesStack(snap, job) {
		cmd.Skip, cmd.Exclusive, cmd.Evaluation = true, false, nil
	}
	return []state.Command{cmd}, next
}

// firesStack reports whether the job of a periodic stack starts children. The job of another
// stack of the unit starts them otherwise.
func firesStack(snap *state.Snapshot, job *api.Job) bool {
	s := snap.Stack(job.Namespace, job.ID)
	return s != nil && UnitIndex(snap, s.Namespace, s.Unit).Fires(s)
}

// lastDue is the time after which due times of a job count.
func lastDue(snap *state.Snapshot, job *api.Job) time.Time {
	l := snap.Launches(job.Namespace, job.ID)
	switch {
	case l.Last.After(l.Since):
		return l.Last
	case !l.Since.IsZero():
		return l.Since
	}
	return time.Unix(0, job.SubmitTime)
}

// Launch is the command that starts a child of a job under that id.
func Launch(parent *api.Job, id, evalID, trigger string, now time.Time) *state.LaunchJob {
	return &state.LaunchJob{
		Namespace: parent.Namespace, ParentID: parent.ID, ParentIndex: parent.JobModifyIndex, ID: id, Time: now.UnixNano(),
		Evaluation: &api.Evaluation{
			ID: evalID, Namespace: parent.Namespace, JobID: id, Type: parent.Type, Priority: parent.Priority,
			TriggeredBy: trigger, Status: api.EvalStatusPending,
			CreateTime: now.UnixNano(), ModifyTime: now.UnixNano(),
		},
	}
}
