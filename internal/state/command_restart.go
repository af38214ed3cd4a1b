// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// PutRestart starts a restart of a job.
type PutRestart struct {
	Restart    *api.JobRestart
	Evaluation *api.Evaluation // nil: none
}

// Name implements Command.
func (c *PutRestart) Name() string { return "PutRestart" }

func (c *PutRestart) apply(t *txn) error {
	if c.Restart == nil || c.Restart.ID == "" {
		return api.Errorf(api.CodeInvalid, "a restart needs an ID")
	}
	r := c.Restart.Copy()
	job := t.Job(r.Namespace, r.JobID)
	switch {
	case job == nil:
		return t.JobNotFound(r.Namespace, r.JobID)
	case t.Restart(r.ID) != nil:
		return api.Errorf(api.CodeConflict, "restart %s is stored already", api.ShortID(r.ID))
	case job.CreateIndex != r.JobCreateIndex || job.Version != r.JobVersion:
		return api.Errorf(api.CodeConflict, "job %q was changed meanwhile: it is at version %d, and the restart is of version %d; try again", r.JobID, job.Version, r.JobVersion)
	case job.Stop:
		return api.Errorf(api.CodeConflict, "job %q is stopped: there is nothing to restart", r.JobID)
	}
	if d := t.LatestDeployment(r.Namespace, r.JobID); d != nil && d.IsActive() && d.JobCreateIndex == job.CreateIndex {
		return api.Errorf(api.CodeConflict, "job %q is being deployed: deployment %s is %s; wait for its end, or fail it", r.JobID, api.ShortID(d.ID), d.Status)
	}
	if other := t.LatestRestart(r.Namespace, r.JobID); other != nil && other.IsActive() {
		return api.Errorf(api.CodeConflict, "job %q is being restarted: restart %s is %s; wait for its end, or cancel it", r.JobID, api.ShortID(other.ID), other.Status)
	}
	r.CreateIndex, r.ModifyIndex = t.index, t.index
	t.decide(r.Namespace, r.JobID)
	t.putRestart(r)
	t.putJobEvaluation(c.Evaluation, job.JobModifyIndex)
	return nil
}

// UpdateRestart pauses, resumes or cancels a restart.
type UpdateRestart struct {
	ID          string
	Status      string // one of the api.Restart constants
	Reason      api.Reason
	Description string          // sentence of the reason
	ModifyIndex uint64          // reject unless this is the restart's; 0: any
	Evaluation  *api.Evaluation // nil: none
	Time        int64           // Unix nanoseconds
}

// Name implements Command.
func (c *UpdateRestart) Name() string { return "UpdateRestart" }

func (c *UpdateRestart) apply(t *txn) error {
	if err := c.check(t); err != nil {
		return err
	}
	c.do(t)
	return nil
}

func (c *UpdateRestart) check(t *txn) error {
	old := t.Restart(c.ID)
	switch {
	case old == nil:
		return api.Errorf(api.CodeNotFound, "restart %q not found", c.ID)
	case !old.IsActive():
		return api.Errorf(api.CodeConflict, "restart %s has ended: it is %s", api.ShortID(c.ID), old.Status)
	case c.ModifyIndex != 0 && c.ModifyIndex != old.ModifyIndex:
		return api.Errorf(api.CodeConflict, "restart %s has changed in the meantime: try again", api.ShortID(c.ID))
	case old.Status == c.Status:
		return api.Errorf(api.CodeConflict, "restart %s is %s already", api.ShortID(c.ID), old.Status)
	}
	return nil
}

func (c *UpdateRestart) do(t *txn) {
	r := t.Restart(c.ID).Copy()
	r.Status, r.StatusReason, r.StatusDescription = c.Status, c.Reason, c.Description
	r.UpdatedAt, r.ModifyIndex = unixNano(c.Time), t.index
	if !r.IsActive() {
		r.NextBatch = time.Time{}
	}
	if r.Templates && r.Status == api.RestartCancelled {
		r.Declined = t.pendingTemplates(r.JobKey())
	}
	t.decide(r.Namespace, r.JobID)
	t.putRestart(r)
	t.putJobEvaluation(c.Evaluation, 0)
}

// placeRestart stores the progress of a job's restart with a placement. The restarted
// allocations are committed with it, so no allocation restarts twice.
func (t *txn) placeRestart(placed *api.JobRestart, now int64) {
	old := t.Restart(placed.ID)
	if old == nil || !old.IsActive() {
		return
	}
	r := placed.Copy()
	r.CreateIndex, r.ModifyIndex = old.CreateIndex, t.index
	r.UpdatedAt = unixNano(now)
	t.putRestart(r)
}

// cancelForDeployment cancels the restart of a job that is being deployed.
func (t *txn) cancelForDeployment(d *api.Deployment, now int64) {
	t.endRestart(d.Namespace, d.JobID, api.ReasonRestartDeployed, api.RestartCancelledText(d), now)
}
