// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/operator"
	"github.com/reeve-run/reeve/internal/state"
)

// PromoteDeployment lets the canaries of the groups take the places of older
// instances; those of all groups, if none is named.
func PromoteDeployment(snap *state.Snapshot, d *api.Deployment, groups []string, now time.Time) (*state.PromoteDeployment, error) {
	promoted, err := operator.Promote(snap, d, groups)
	if err != nil {
		return nil, err
	}
	cmd := &state.PromoteDeployment{
		ID: d.ID, Reason: promoted.StatusReason, Description: promoted.StatusDescription, Time: now.UnixNano(),
		Evaluation: deploymentEvaluation(snap, d, now),
	}
	for name, g := range promoted.Groups {
		if g.Promoted && !d.Groups[name].Promoted {
			cmd.Groups = append(cmd.Groups, name)
		}
	}
	slices.Sort(cmd.Groups)
	return cmd, nil
}

// SetHealth stores an operator's verdict on the health of a deployment's allocations. An
// unhealthy allocation fails the deployment.
func SetHealth(snap *state.Snapshot, d *api.Deployment, healthy, unhealthy []string, now time.Time) (*state.SetAllocHealth, error) {
	if err := operator.CheckHealth(snap, d, healthy, unhealthy); err != nil {
		return nil, err
	}
	cmd := &state.SetAllocHealth{DeploymentID: d.ID, Healthy: healthy, Unhealthy: unhealthy, Time: now.UnixNano()}
	if len(unhealthy) == 0 {
		cmd.Evaluation = deploymentEvaluation(snap, d, now)
		return cmd, nil
	}
	reverts := false
	for _, id := range unhealthy {
		if g := d.Groups[snap.Allocation(id).Group]; g != nil {
			reverts = reverts || g.AutoRevert
		}
	}
	end := failDeployment(snap, d, api.ReasonDeploymentUnhealthy, reverts, now)
	cmd.Status, cmd.Reason, cmd.Description, cmd.Evaluation = end.Status, end.Reason, end.Description, end.Evaluation
	cmd.Job, cmd.JobIndex = end.Job, end.JobIndex
	cmd.Troubles = end.Troubles
	for _, id := range unhealthy {
		if a := snap.Allocation(id); len(cmd.Troubles) < api.TroublesKept {
			cmd.Troubles = append(cmd.Troubles, &api.Trouble{
				Kind: api.TroubleUnhealthy, Message: "an operator marked it as unhealthy", Group: a.Group, Instance: api.InstanceName(a.Group, a.Index()),
				Instances: 1, JobVersion: a.JobVersion(), Allocation: a.ID, NodeID: a.NodeID, NodeName: a.NodeName, At: now,
			})
		}
	}
	return cmd, nil
}
