// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// RegisterJob stores a job as a new version, unless the current version is equal. The job
// must be canonicalized and validated. RegisterJob sets the server's own fields.
type RegisterJob struct {
	Job          *api.Job
	Submission   *api.JobSubmission // nil: none
	Evaluation   *api.Evaluation    // nil: none
	EnforceIndex *uint64            // reject unless the current JobModifyIndex is this; 0: the job must be new
	Again        bool               // an equal job is a new version as well if the deployment of the current one failed
}

// needs returns the level of servers that know Again.
func (c *RegisterJob) needs() (int, string) {
	if c.Again {
		return 3, "deploy a job again whose deployment failed"
	}
	return firstLevel, ""
}

// Name implements Command.
func (c *RegisterJob) Name() string { return "RegisterJob" }

func (c *RegisterJob) apply(t *txn) error {
	if c.Job == nil || c.Job.ID == "" {
		return api.Errorf(api.CodeInvalid, "a job needs an ID")
	}
	if err := t.CheckRegistration(c.Job, c.EnforceIndex); err != nil {
		return err
	}
	stored := t.registerJob(t.Job(c.Job.Namespace, c.Job.ID), c.Job, c.Submission, c.Again)
	t.putJobEvaluation(c.Evaluation, stored.JobModifyIndex)
	return nil
}

// CheckRegistration rejects a job whose namespace does not allow it, whose current version has another index,
// or whose routes other jobs hold.
func (c *content) CheckRegistration(job *api.Job, enforce *uint64) error {
	if err := c.checkNamespace(job); err != nil {
		return err
	}
	if err := checkIndex(job.ID, c.Job(job.Namespace, job.ID), enforce); err != nil {
		return err
	}
	return c.CheckRoutes(job)
}

// registerJob stores job after current (nil if it is new) and returns the stored job.
func (t *txn) registerJob(current, job *api.Job, submission *api.JobSubmission, again bool) *api.Job {
	j, isVersion := t.jobAfter(current, job, t.index, again)
	if !isVersion {
		submission = nil
	}
	t.putJob(j, isVersion, submission)
	return j
}

// JobAfterRegistration returns the job as RegisterJob would store it in the next log
// entry.
func (v *Snapshot) JobAfterRegistration(job *api.Job, again bool) *api.Job {
	j, _ := v.jobAfter(v.Job(job.Namespace, job.ID), job, v.index+1, again)
	return j
}

// HasFailedDeployment reports whether the deployment of the job's current version failed.
func (c *content) HasFailedDeployment(j *api.Job) bool {
	d := c.LatestDeployment(j.Namespace, j.ID)
	return d != nil && d.Status == api.DeploymentFailed && d.JobCreateIndex == j.CreateIndex && d.JobVersion == j.Version
}

// jobAfter returns the job that is stored after current (nil if it is new) at index, and
// reports whether it is a new version.
func (c *content) jobAfter(current, job *api.Job, index uint64, again bool) (after *api.Job, isVersion bool) {
	j := *job
	j.CreateIndex, j.ModifyIndex, j.JobModifyIndex = index, index, index
	j.Status, j.Version, j.Stable = api.JobStatusPending, 0, false
	j.StatusDescription, j.Purge = "", false
	if current == nil {
		return &j, true
	}
	j.CreateIndex, j.Status, j.Version = current.CreateIndex, current.Status, current.Version
	if api.SpecEqual(current, &j) && current.Stop == j.Stop && !(again && c.HasFailedDeployment(current)) {
		j.Stable, j.VersionTag = current.Stable, current.VersionTag
		if j.SubmitTime == 0 {
			j.SubmitTime = current.SubmitTime
		}
		return &j, false
	}
	j.VersionTag = nil
	j.Version = c.NextVersion(current)
	return &j, true
}

// NextVersion returns the version number of the next change of a stored job.
func (c *content) NextVersion(current *api.Job) uint64 {
	newest := current.Version
	if r := c.job(current.Namespace, current.ID); r != nil && len(r.versions) > 0 {
		newest = max(newest, r.versions[0].job.Version)
	}
	return newest + 1
}

// uninstalling is the status description of a purged job while instances still have to
// end.
const uninstalling = "being uninstalled"

// DeregisterJob stops a job, which creates a new version. With Purge, it also deletes the
// job: immediately if no instance may still run, otherwise in the placement that finds
// that none does. The store remembers the end for a while. Registering the job again keeps
// it.
type DeregisterJob struct {
	Namespace  string
	ID         string
	Purge      bool
	Evaluation *api.Evaluation // nil: none
	Time       int64           // Unix nanoseconds
}

// Name implements Command.
func (c *DeregisterJob) Name() string { return "DeregisterJob" }

func (c *DeregisterJob) apply(t *txn) error {
	current := t.Job(c.Namespace, c.ID)
	if current == nil {
		return t.JobNotFound(c.Namespace, c.ID)
	}
	switch {
	case c.Purge && !t.holdsResources(c.Namespace, c.ID):
		t.uninstall(current, c.Time, c.Time)
	case current.Stop && c.Purge && !current.Purge:
		j := *current
		j.Purge, j.StatusDescription = true, uninstalling
		j.ModifyIndex, j.JobModifyIndex = t.index, t.index
		t.decide(c.Namespace, c.ID)
		t.putJob(&j, false, nil)
	case !current.Stop:
		t.decide(c.Namespace, c.ID)
		t.endRestart(c.Namespace, c.ID, api.ReasonRestartJobStopped, api.ReasonRestartJobStopped.Text(), c.Time)
		j := *current
		j.Stop, j.Stable, j.VersionTag = true, false, nil
		if c.Purge {
			j.Purge, j.StatusDescription = true, uninstalling
		}
		j.Version = t.NextVersion(current)
		j.ModifyIndex, j.JobModifyIndex = t.index, t.index
		j.SubmitTime = c.Time
		submission := t.Submission(c.Namespace, c.ID, current.Version)
		t.putJob(&j, true, submission)
	}
	t.putJobEvaluation(c.Evaluation, t.index)
	return nil
}

// holdsResources reports whether an instance of the job may be running.
func (t *txn) holdsResources(namespace, id string) bool {
	for a := range t.AllocationsByJob(namespace, id) {
		if a.HoldsResources() {
			return true
		}
	}
	return false
}

// SetJobStability marks a version as suitable for a rollback, or not.
type SetJobStability struct {
	Namespace string
	ID        string
	Version   uint64
	Stable    bool
}

// Name implements Command.
func (c *SetJobStability) Name() string { return "SetJobStability" }

func (c *SetJobStability) apply(t *txn) error {
	if t.Job(c.Namespace, c.ID) == nil {
		return t.JobNotFound(c.Namespace, c.ID)
	}
	v := t.JobVersion(c.Namespace, c.ID, c.Version)
	if v == nil {
		return api.Errorf(api.CodeNotFound, "job %q no longer has a version %d", c.ID, c.Version)
	}
	t.setStable(v, c.Stable)
	return nil
}

// setStable stores a version with the given stability.
func (t *txn) setStable(v *api.Job, stable bool) {
	if v.Stable == stable {
		return
	}
	if current := t.Job(v.Namespace, v.ID); current != nil && current.Version == v.Version {
		j := *current
		j.Stable, j.ModifyIndex = stable, t.index
		t.putJob(&j, false, nil)
		return
	}
	j := *v
	j.Stable, j.ModifyIndex = stable, t.index
	_, row := t.editJob(v.Namespace, v.ID)
	t.replaceVersion(row, &j)
}

// scalingEventsKept is the number of scaling events kept per group.
const scalingEventsKept = 20

// ScaleJob sets the count of one group and records the reason.
type ScaleJob struct {
	Namespace    string
	ID           string
	Group        string
	Count        *int64 // nil: only record the event
	Event        *api.ScalingEvent
	Evaluation   *api.Evaluation // nil: none
	EnforceIndex *uint64
}

// Name implements Command.
func (c *ScaleJob) Name() string { return "ScaleJob" }

func (c *ScaleJob) apply(t *txn) error {
	current := t.Job(c.Namespace, c.ID)
	if current == nil {
		return t.JobNotFound(c.Namespace, c.ID)
	}
	if err := checkIndex(c.ID, current, c.EnforceIndex); err != nil {
		return err
	}
	group := current.Group(c.Group)
	switch {
	case group == nil:
		return api.Errorf(api.CodeNotFound, "job %q has no group %q", c.ID, c.Group)
	case c.Count != nil && (*c.Count < 0 || *c.Count > 1<<31-1):
		return api.Errorf(api.CodeInvalid, "group %q cannot be scaled to %d", c.Group, *c.Count)
	case c.Count != nil && current.Stop:
		return api.Errorf(api.CodeConflict, "job %q is stopped: run it again before scaling it", c.ID)
	}
	previous, modifyIndex := group.Size(), current.JobModifyIndex
	if c.Count != nil {
		count := int(*c.Count)
		j := *current
		j.Groups = slices.Clone(current.Groups)
		for i, g := range j.Groups {
			if g.Name == c.Group {
				scaled := *g
				scaled.Count = &count
				j.Groups[i] = &scaled
			}
		}
		if c.Event != nil && c.Event.Time > 0 {
			j.SubmitTime = c.Event.Time
		}
		modifyIndex = t.registerJob(current, &j, t.Submission(c.Namespace, c.ID, current.Version), false).JobModifyIndex
	}
	if c.Event != nil {
		t.addScalingEvent(c, int64(previous))
	}
	t.putJobEvaluation(c.Evaluation, modifyIndex)
	return nil
}

func (t *txn) addScalingEvent(c *ScaleJob, previous int64) {
	_, row := t.editJob(c.Namespace, c.ID)
	event := *c.Event
	event.Count, event.PreviousCount, event.CreateIndex = c.Count, previous, t.index
	if c.Evaluation != nil {
		event.EvalID = &c.Evaluation.ID
	}
	scaling := make(map[string][]api.ScalingEvent, len(row.scaling)+1)
	for group, events := range row.scaling {
		scaling[group] = events
	}
	events := append([]api.ScalingEvent{event}, scaling[c.Group]...)
	scaling[c.Group] = events[:min(len(events), scalingEventsKept)]
	row.scaling = scaling
	t.touch(TableScaling)
}
