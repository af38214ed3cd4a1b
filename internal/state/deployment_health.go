// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
)

// countHealth updates the counts of a deployment's groups when an allocation is placed or
// its health changes. old is nil for a new allocation.
func (t *txn) countHealth(old, a *api.Allocation) {
	if a.DeploymentID == "" {
		return
	}
	if old != nil && old.DeploymentID == a.DeploymentID && old.DeploymentStatus == a.DeploymentStatus {
		return
	}
	current := t.Deployment(a.DeploymentID)
	if current == nil || current.Groups[a.Group] == nil {
		return
	}
	if old != nil && old.DeploymentID != a.DeploymentID {
		old = nil // joins the deployment in place
	}
	d := current.Copy()
	g := d.Groups[a.Group]
	if old == nil {
		g.PlacedAllocs++
		if g.RequireProgressBy.IsZero() && g.ProgressDeadline > 0 && a.CreateTime > 0 {
			g.RequireProgressBy = time.Unix(0, max(a.CreateTime, a.ModifyTime)).UTC().Add(g.ProgressDeadline)
		}
	}
	if a.IsCanary() && (old == nil || !old.IsCanary()) && !slices.Contains(g.PlacedCanaries, a.ID) {
		g.PlacedCanaries = append(slices.Clip(g.PlacedCanaries), a.ID)
	}
	wasHealthy, wasUnhealthy := old != nil && old.IsHealthy(), old != nil && old.IsUnhealthy()
	g.HealthyAllocs += b2i(a.IsHealthy()) - b2i(wasHealthy)
	g.UnhealthyAllocs += b2i(a.IsUnhealthy()) - b2i(wasUnhealthy)
	if a.IsHealthy() && !wasHealthy && g.ProgressDeadline > 0 {
		if by := a.DeploymentStatus.Timestamp.Add(g.ProgressDeadline); by.After(g.RequireProgressBy) {
			g.RequireProgressBy = by
		}
	}
	d.ModifyIndex = t.index
	t.putDeployment(d)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
