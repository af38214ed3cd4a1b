// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

// UpdateDeployment ends, pauses or resumes a deployment. It can also roll the job back to
// an older version.
type UpdateDeployment struct {
	ID          string
	Status      string
	Reason      api.Reason
	Description string          // sentence of the reason
	Evaluation  *api.Evaluation // nil: none
	Job         *api.Job        // version to register; nil: none
	Troubles    []*api.Trouble  // reasons for a failure, stored with the deployment
	JobIndex    uint64          // with Job: reject unless the current JobModifyIndex is this; 0: any
	Time        int64           // Unix nanoseconds
}

// Name implements Command.
func (c *UpdateDeployment) Name() string { return "UpdateDeployment" }

func (c *UpdateDeployment) apply(t *txn) error {
	d := t.Deployment(c.ID)
	switch {
	case d == nil:
		return api.Errorf(api.CodeNotFound, "deployment %q not found", c.ID)
	case !d.IsActive():
		return api.Errorf(api.CodeConflict, "deployment %s has ended: it is %s", api.ShortID(c.ID), d.Status)
	}
	if err := c.checkJob(t, d); err != nil {
		return err
	}
	t.decide(d.Namespace, d.JobID)
	t.endDeployment(DeploymentUpdate{c.ID, c.Status, c.Reason, c.Description}, c.Troubles, c.Time)
	modifyIndex := uint64(0)
	if current := t.Job(d.Namespace, d.JobID); c.Job != nil && current != nil {
		stored := t.registerJob(current, c.Job, t.Submission(d.Namespace, d.JobID, c.Job.Version), false)
		modifyIndex = stored.JobModifyIndex
	}
	t.putJobEvaluation(c.Evaluation, modifyIndex)
	return nil
}

// checkJob rejects a rollback over a version that the command's author had not seen.
func (c *UpdateDeployment) checkJob(t *txn, d *api.Deployment) error {
	if current := t.Job(d.Namespace, d.JobID); c.Job != nil && c.JobIndex != 0 && current != nil {
		return checkIndex(d.JobID, current, &c.JobIndex)
	}
	return nil
}

// updateDeployment changes a deployment's status. It skips unknown deployments and those
// that have ended. Success marks the job version as stable.
func (t *txn) updateDeployment(u DeploymentUpdate, now int64) { t.endDeployment(u, nil, now) }

// endDeployment is updateDeployment, and stores the reasons of a failure with the
// deployment.
func (t *txn) endDeployment(u DeploymentUpdate, troubles []*api.Trouble, now int64) {
	old := t.Deployment(u.ID)
	if old == nil || !old.IsActive() {
		return
	}
	d := old.Copy()
	d.Status, d.StatusReason, d.StatusDescription = u.Status, u.Reason, u.Description
	if len(troubles) > 0 {
		d.Troubles = troubles
	}
	d.ModifyIndex, d.ModifyTime = t.index, now
	t.putDeployment(d)
	t.settleStability(d)
}

// settleStability marks the job version of a successful deployment as stable.
func (t *txn) settleStability(d *api.Deployment) {
	if d.Status != api.DeploymentSuccessful {
		return
	}
	if v := t.JobVersion(d.Namespace, d.JobID, d.JobVersion); v != nil && v.CreateIndex == d.JobCreateIndex {
		t.setStable(v, true)
	}
}

// placeDeployment stores the deployment of a placement. The store keeps its own counts of
// placed and healthy allocations.
func (t *txn) placeDeployment(placed *api.Deployment, now int64) {
	old := t.Deployment(placed.ID)
	if old == nil {
		d := placed.Copy()
		d.Groups = t.beginnings.share(d.Groups)
		d.CreateIndex, d.ModifyIndex, d.ModifyTime = t.index, t.index, now
		if d.CreateTime == 0 {
			d.CreateTime = now
		}
		t.putDeployment(d)
		t.cancelForDeployment(d, now)
		return
	}
	d := placed.Copy()
	d.ModifyIndex, d.ModifyTime = t.index, now
	d.CreateIndex, d.CreateTime = old.CreateIndex, old.CreateTime
	if !old.IsActive() {
		d.Status, d.StatusReason, d.StatusDescription = old.Status, old.StatusReason, old.StatusDescription
	}
	for name, g := range d.Groups {
		if o := old.Groups[name]; o != nil {
			g.PlacedCanaries, g.PlacedAllocs = o.PlacedCanaries, o.PlacedAllocs
			g.HealthyAllocs, g.UnhealthyAllocs = o.HealthyAllocs, o.UnhealthyAllocs
			g.RequireProgressBy = o.RequireProgressBy
		}
	}
	t.putDeployment(d)
	t.settleStability(d)
}
