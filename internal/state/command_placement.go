// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

// CommitPlacement stores a worker's placement as a whole or not at all.
type CommitPlacement struct {
	Placement *Placement
}

// A Placement is a worker's result for an evaluation.
type Placement struct {
	EvalID            string
	Priority          int
	SnapshotIndex     uint64 // index of the worker's snapshot
	AllAtOnce         bool
	Job               *api.Job          // version for new allocations that name no other
	Place             []*api.Allocation // new allocations, or stored ones to update in place
	Stop              []Stop
	Preempt           []Preemption
	Deployment        *api.Deployment // new or changed deployment; nil: none
	DeploymentUpdates []DeploymentUpdate
	Restart           *api.JobRestart   // the job's active restart with its new progress; nil: unchanged
	Deregister        bool              // delete the purged job, because no instance of it remains
	Evaluations       []*api.Evaluation // written in the same entry
	Time              int64             // Unix nanoseconds
}

// A Stop requests the end of one allocation, or reports it as lost.
type Stop struct {
	ID             string
	Reason         api.Reason
	Description    string // sentence of the reason
	ClientStatus   string // api.AllocClientLost, or "" to let the node report it
	FollowupEvalID string // id of the evaluation that will replace the allocation; "": none
}

// A Preemption ends an allocation of another job to give its room to an allocation of the
// same placement. The preempted allocation holds its room until it ends; the new one waits
// for that on the node.
type Preemption struct {
	ID string
	By string // id of the allocation that takes the room
}

// A DeploymentUpdate ends or changes a deployment.
type DeploymentUpdate struct {
	ID          string
	Status      string
	Reason      api.Reason
	Description string // sentence of the reason
}

// Name implements Command.
func (c *CommitPlacement) Name() string { return "CommitPlacement" }

func (c *CommitPlacement) apply(t *txn) error {
	p := c.Placement
	if p == nil {
		return api.Errorf(api.CodeInvalid, "a placement is missing")
	}
	jobs, err := t.resolveJobs(p)
	if err != nil {
		return err
	}
	if err := t.checkDecided(p); err != nil {
		return err
	}
	if err := t.checkVolumes(p); err != nil {
		return err
	}
	if p.Deployment != nil {
		t.placeDeployment(p.Deployment, p.Time)
	}
	for _, u := range p.DeploymentUpdates {
		t.updateDeployment(u, p.Time)
	}
	if p.Restart != nil {
		t.placeRestart(p.Restart, p.Time)
	}
	for i := range p.Stop {
		t.stop(&p.Stop[i], p.Time)
	}
	for i, a := range p.Place {
		t.place(a, jobs[i], p.Time)
		t.claimVolumes(a)
	}
	for i := range p.Preempt {
		t.preempt(&p.Preempt[i], p.Time)
	}
	if p.Deregister {
		t.deregister(p.Job, p.Time)
	}
	t.putEvaluations(p.Evaluations...)
	return nil
}

// checkDecided rejects a placement whose snapshot is older than the last operator decision
// about its job. After an operator's command has returned, nothing starts that contradicts
// the decision.
func (t *txn) checkDecided(p *Placement) error {
	if p.Job == nil || p.SnapshotIndex == 0 {
		return nil
	}
	if decided := t.Decided(p.Job.Namespace, p.Job.ID); decided > p.SnapshotIndex {
		return api.Errorf(api.CodeConflict, "placement for evaluation %s: something was decided about the plans of job %q meanwhile", p.EvalID, p.Job.ID)
	}
	return nil
}

// deregister deletes a job that was to be purged, unless it was registered again
// meanwhile.
func (t *txn) deregister(job *api.Job, now int64) {
	if job == nil {
		return
	}
	if current := t.Job(job.Namespace, job.ID); current != nil && current.Purge && current.CreateIndex == job.CreateIndex {
		t.uninstall(current, current.SubmitTime, now)
	}
}

// resolveJobs returns the stored job of each allocation to be placed, so that all
// allocations of a version share it.
func (t *txn) resolveJobs(p *Placement) ([]*api.Job, error) {
	jobs := make([]*api.Job, len(p.Place))
	var asked, found *api.Job // job of the previous allocation, which is usually the same
	for i, a := range p.Place {
		job := a.Job
		if job == nil {
			job = p.Job
		}
		if job == nil {
			return nil, api.Errorf(api.CodeInvalid, "allocation %s is to be placed without a job", a.ID)
		}
		if job == asked {
			jobs[i] = found
			continue
		}
		asked, found = job, nil
		row := t.job(job.Namespace, job.ID)
		if row != nil {
			found = row.resolve(job.Version)
		}
		if found == nil || row.job == nil || job.JobModifyIndex != 0 && job.CreateIndex != found.CreateIndex {
			return nil, api.Errorf(api.CodeConflict, "placement for evaluation %s: job %q version %d is no longer stored", p.EvalID, job.ID, job.Version)
		}
		jobs[i] = found
	}
	return jobs, nil
}

// place stores an allocation of a placement.
func (t *txn) place(placed *api.Allocation, job *api.Job, now int64) {
	a := placed.Copy()
	a.Job = job
	a.Namespace, a.JobID = job.Namespace, job.ID
	a.ModifyIndex, a.AllocModifyIndex, a.CreateIndex = t.index, t.index, t.index
	a.ModifyTime = now
	_, row := t.allocations.ensure(t.gen, a.ID)
	old := row.allocation
	if old == nil {
		if a.CreateTime == 0 {
			a.CreateTime = now
		}
		if a.ClientStatus == "" {
			a.ClientStatus = api.AllocClientPending
		}
		if a.DesiredStatus == "" {
			a.DesiredStatus = api.AllocDesiredRun
		}
		a.Crashes = t.inherited(a)
		t.putAllocation(a)
		t.succeed(a)
		return
	}
	t.carryPins(old, job)
	a.CreateIndex, a.CreateTime = old.CreateIndex, old.CreateTime
	a.ClientStatus, a.ClientDescription = old.ClientStatus, old.ClientDescription
	a.TaskStates, a.NetworkStatus, a.LaunchStatus = old.TaskStates, old.NetworkStatus, old.LaunchStatus
	a.Serving, a.Crashes = old.Serving, old.Crashes
	if placed.ClientStatus == api.AllocClientLost || placed.ClientStatus == api.AllocClientUnknown {
		a.ClientStatus, a.ClientDescription = placed.ClientStatus, placed.ClientDescription
	}
	if a.NextAllocation == "" {
		a.NextAllocation = old.NextAllocation // may be set by the same placement
	}
	if a.DeploymentID == old.DeploymentID {
		a.DeploymentStatus = old.DeploymentStatus
	}
	if old.PreemptedByAllocation != "" {
		// The allocation was preempted after the snapshot of its update: the preemption
		// stands.
		a.DesiredStatus, a.DesiredReason, a.DesiredDescription = old.DesiredStatus, old.DesiredReason, old.DesiredDescription
		a.PreemptedByAllocation = old.PreemptedByAllocation
	}
	t.putAllocation(a)
}

// inherited returns the crash count that a inherits from its predecessor: from a failed
// allocation, or from one with the same version of the job. Otherwise a starts with no
// count, as does a job that was purged and registered again. A placement may set the count
// itself.
func (t *txn) inherited(a *api.Allocation) *api.Crashes {
	if a.Crashes != nil || a.PreviousAllocation == "" {
		return a.Crashes
	}
	previous := t.Allocation(a.PreviousAllocation)
	if previous == nil || previous.Crashes == nil || isReborn(previous.Job, a.Job) ||
		previous.ClientStatus != api.AllocClientFailed && previous.JobVersion() != a.JobVersion() {
		return nil
	}
	c := *previous.Crashes
	c.Next = 0
	return &c
}

// isReborn reports whether the job was purged and registered again between two of its
// versions. For orphans this is unknown.
func isReborn(old, job *api.Job) bool {
	return old != nil && job != nil && old.CreateIndex != job.CreateIndex && !isOrphaned(old) && !isOrphaned(job)
}

// succeed records a as the successor of the allocation that it replaces.
func (t *txn) succeed(a *api.Allocation) {
	if a.PreviousAllocation == "" {
		return
	}
	if previous := t.Allocation(a.PreviousAllocation); previous != nil && previous.NextAllocation != a.ID {
		p := previous.Copy()
		p.NextAllocation, p.ModifyIndex = a.ID, t.index
		t.putAllocation(p)
	}
}

// stop records that an allocation is to stop. It skips allocations that were collected
// meanwhile.
func (t *txn) stop(s *Stop, now int64) {
	old := t.Allocation(s.ID)
	if old == nil {
		return
	}
	a := old.Copy()
	a.DesiredStatus, a.DesiredReason, a.DesiredDescription = api.AllocDesiredStop, s.Reason, s.Description
	if s.ClientStatus != "" {
		a.ClientStatus = s.ClientStatus
	}
	if s.FollowupEvalID != "" {
		a.FollowupEvalID = s.FollowupEvalID
	}
	a.DesiredTransition = api.DesiredTransition{NoShutdownDelay: old.DesiredTransition.NoShutdownDelay}
	a.ModifyIndex, a.AllocModifyIndex, a.ModifyTime = t.index, t.index, now
	t.putAllocation(a)
}

// preempt records that an allocation is to end for another. It skips allocations that have
// ended meanwhile or are stopping anyway; the other waits for their room all the same.
func (t *txn) preempt(p *Preemption, now int64) {
	old, by := t.Allocation(p.ID), t.Allocation(p.By)
	if old == nil || by == nil || old.IsTerminal() {
		return
	}
	a := old.Copy()
	a.DesiredStatus, a.PreemptedByAllocation = api.AllocDesiredEvict, by.ID
	a.DesiredReason, a.DesiredDescription = api.ReasonPreempted, api.PreemptedText(by)
	a.ModifyIndex, a.AllocModifyIndex, a.ModifyTime = t.index, t.index, now
	t.putAllocation(a)
}
