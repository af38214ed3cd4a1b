// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

var deploymentsByTime = order[*api.Deployment]{
	key:   func(d *api.Deployment) key { return key{index: d.CreateIndex, id: d.ID} },
	dated: true,
}

func listDeployments(c *call, v *state.Snapshot) iter.Seq[*api.Deployment] {
	return where(v.DeploymentsPrefix(c.prefix), func(d *api.Deployment) bool { return c.inNamespace(d.Namespace) })
}

func showDeployment(_ *call, _ *state.Snapshot, d *api.Deployment) *api.Deployment { return d }

func getDeployment(c *call, v *state.Snapshot) (*api.Deployment, uint64, error) {
	d, err := findDeployment(v, c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return d, d.ModifyIndex, nil
}

func findDeployment(v *state.Snapshot, id string) (*api.Deployment, error) {
	return find("deployment", id, v.Deployment(id), v.DeploymentsPrefix, func(d *api.Deployment) string { return d.ID })
}

func getDeploymentAllocations(c *call, v *state.Snapshot) ([]*api.AllocationListStub, uint64, error) {
	d, err := findDeployment(v, c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return ofJob(c, v, v.AllocationsByDeployment(d.ID), allocationModified, func(a *api.Allocation) *api.AllocationListStub { return showAllocation(c, v, a) })
}

func failDeployment(c *call, _ *api.DeploymentFailRequest) (*api.DeploymentResponse, uint64, error) {
	d, err := findDeployment(c.Server.Store().Snapshot(), c.id())
	if err != nil {
		return nil, 0, err
	}
	return deploymentChanged(c.Server.FailDeployment(c.r.Context(), d.ID))
}

func pauseDeployment(c *call, req *api.DeploymentPauseRequest) (*api.DeploymentResponse, uint64, error) {
	d, err := findDeployment(c.Server.Store().Snapshot(), c.id())
	if err != nil {
		return nil, 0, err
	}
	return deploymentChanged(c.Server.PauseDeployment(c.r.Context(), d.ID, req.Pause))
}

func deploymentChanged(resp *api.DeploymentResponse, err error) (*api.DeploymentResponse, uint64, error) {
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}
