// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// PromoteDeployment promotes the canaries of some groups: they replace the instances of
// the old version.
type PromoteDeployment struct {
	ID          string
	Groups      []string
	Reason      api.Reason
	Description string          // sentence of the reason; "": the deployment keeps its reason
	Evaluation  *api.Evaluation // nil: none
	Time        int64           // Unix nanoseconds
}

// Name implements Command.
func (c *PromoteDeployment) Name() string { return "PromoteDeployment" }

func (c *PromoteDeployment) apply(t *txn) error {
	old := t.Deployment(c.ID)
	switch {
	case old == nil:
		return api.Errorf(api.CodeNotFound, "deployment %q not found", c.ID)
	case !old.IsActive():
		return api.Errorf(api.CodeConflict, "deployment %s has ended: it is %s", api.ShortID(c.ID), old.Status)
	}
	d := old.Copy()
	for _, name := range c.Groups {
		g := d.Groups[name]
		if g == nil {
			return api.Errorf(api.CodeNotFound, "deployment %s has no group %q", api.ShortID(c.ID), name)
		}
		g.Promoted = true
		if g.ProgressDeadline > 0 {
			g.RequireProgressBy = unixNano(c.Time).Add(g.ProgressDeadline)
		}
	}
	if c.Description != "" {
		d.StatusReason, d.StatusDescription = c.Reason, c.Description
	}
	d.ModifyIndex, d.ModifyTime = t.index, c.Time
	t.decide(d.Namespace, d.JobID)
	t.putDeployment(d)
	for a := range t.AllocationsByDeployment(c.ID) {
		if a.IsCanary() && !a.IsTerminal() && slices.Contains(c.Groups, a.Group) {
			promoted := a.Copy()
			status := *a.DeploymentStatus
			status.Canary, status.ModifyIndex = false, t.index
			promoted.DeploymentStatus = &status
			promoted.ModifyIndex, promoted.ModifyTime = t.index, c.Time
			t.putAllocation(promoted)
		}
	}
	t.putJobEvaluation(c.Evaluation, 0)
	return nil
}

// SetAllocHealth stores whether allocations of a deployment are healthy. It can also end
// the deployment, like UpdateDeployment.
type SetAllocHealth struct {
	DeploymentID string
	Healthy      []string // ids
	Unhealthy    []string
	Status       string // new status of the deployment; "": unchanged
	Reason       api.Reason
	Description  string          // sentence of the reason
	Evaluation   *api.Evaluation // nil: none
	Job          *api.Job        // version to register; nil: none
	Troubles     []*api.Trouble  // reasons for a failure, stored with the deployment
	JobIndex     uint64          // with Job: reject unless the current JobModifyIndex is this; 0: any
	Time         int64           // Unix nanoseconds
}

// Name implements Command.
func (c *SetAllocHealth) Name() string { return "SetAllocHealth" }

func (c *SetAllocHealth) apply(t *txn) error {
	d := t.Deployment(c.DeploymentID)
	switch {
	case d == nil:
		return api.Errorf(api.CodeNotFound, "deployment %q not found", c.DeploymentID)
	case !d.IsActive():
		return api.Errorf(api.CodeConflict, "deployment %s has ended: it is %s", api.ShortID(c.DeploymentID), d.Status)
	}
	for _, ids := range [][]string{c.Healthy, c.Unhealthy} {
		for _, id := range ids {
			if a := t.Allocation(id); a == nil || a.DeploymentID != c.DeploymentID {
				return api.Errorf(api.CodeNotFound, "deployment %s has no allocation %q", api.ShortID(c.DeploymentID), id)
			}
		}
	}
	end := &UpdateDeployment{
		ID: c.DeploymentID, Status: c.Status, Reason: c.Reason, Description: c.Description,
		Evaluation: c.Evaluation, Job: c.Job, JobIndex: c.JobIndex, Troubles: c.Troubles, Time: c.Time,
	}
	if err := end.checkJob(t, d); err != nil {
		return err
	}
	t.setHealth(c.Healthy, true, c.Time)
	t.setHealth(c.Unhealthy, false, c.Time)
	if c.Status != "" {
		return end.apply(t)
	}
	t.decide(d.Namespace, d.JobID)
	t.putJobEvaluation(c.Evaluation, 0)
	return nil
}

func (t *txn) setHealth(ids []string, healthy bool, now int64) {
	for _, id := range ids {
		a := t.Allocation(id).Copy()
		a.DeploymentStatus = &api.AllocDeploymentStatus{Healthy: &healthy, Timestamp: unixNano(now), Canary: a.IsCanary(), ModifyIndex: t.index}
		a.ModifyIndex, a.ModifyTime = t.index, now
		t.putAllocation(a)
	}
}

// decide records that an operator decided something about the job's plans, which makes
// older placements of the job invalid.
func (t *txn) decide(namespace, id string) {
	_, row := t.editJob(namespace, id)
	row.decided = t.index
}
