// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"github.com/reeve-run/reeve/api"
)

// PromoteDeployment lets the canaries of some groups take the place of what
// they were tried beside.
type PromoteDeployment struct {
	ID          string
	Groups      []string
	Description string          // of the deployment from now on; "": as it is
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
	}
	if c.Description != "" {
		d.StatusDescription = c.Description
	}
	d.ModifyIndex, d.ModifyTime = t.index, c.Time
	t.decide(d.Namespace, d.JobID)
	t.putDeployment(d)
	t.putJobEvaluation(c.Evaluation, 0)
	return nil
}

// SetAllocationHealth stores what somebody says of the health of a
// deployment's allocations.
type SetAllocationHealth struct {
	DeploymentID string
	Healthy      []string // ids
	Unhealthy    []string
	Evaluations  []*api.Evaluation
	Time         int64 // Unix nanoseconds
}

// Name implements Command.
func (c *SetAllocationHealth) Name() string { return "SetAllocationHealth" }

func (c *SetAllocationHealth) apply(t *txn) error {
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
	t.setHealth(c.Healthy, true, c.Time)
	t.setHealth(c.Unhealthy, false, c.Time)
	t.putEvaluations(c.Evaluations...)
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

// decide notes that an operator decided something about the job's plans: what
// is being worked out about it does not know.
func (t *txn) decide(namespace, id string) {
	_, row := t.editJob(namespace, id)
	row.decided = t.index
}
