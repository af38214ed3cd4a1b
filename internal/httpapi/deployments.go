// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"
	"strings"

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
	return deploymentChanged(c.Server.PauseDeployment(c.r.Context(), d.ID, req))
}

func promoteDeployment(c *call, req *api.DeploymentPromoteRequest) (*api.DeploymentResponse, uint64, error) {
	if err := c.takeDeploymentID(req.DeploymentID); err != nil {
		return nil, 0, err
	}
	if req.All == (len(req.Groups) > 0) {
		return nil, 0, api.Errorf(api.CodeInvalid, "say which canaries are promoted: either All, or Groups by name")
	}
	d, err := findDeployment(c.Server.Store().Snapshot(), c.id())
	if err != nil {
		return nil, 0, err
	}
	return deploymentChanged(c.Server.PromoteDeployment(c.r.Context(), d.ID, req.Groups))
}

func setAllocationHealth(c *call, req *api.DeploymentAllocationHealthRequest) (*api.DeploymentResponse, uint64, error) {
	if err := c.takeDeploymentID(req.DeploymentID); err != nil {
		return nil, 0, err
	}
	if len(req.HealthyAllocationIDs)+len(req.UnhealthyAllocationIDs) == 0 {
		return nil, 0, api.Errorf(api.CodeInvalid, "HealthyAllocationIDs, UnhealthyAllocationIDs: the request names no allocation")
	}
	v := c.Server.Store().Snapshot()
	d, err := findDeployment(v, c.id())
	if err != nil {
		return nil, 0, err
	}
	healthy, err := allocationIDs(v, d, req.HealthyAllocationIDs)
	if err != nil {
		return nil, 0, err
	}
	unhealthy, err := allocationIDs(v, d, req.UnhealthyAllocationIDs)
	if err != nil {
		return nil, 0, err
	}
	return deploymentChanged(c.Server.SetAllocationHealth(c.r.Context(), d.ID, healthy, unhealthy))
}

// allocationIDs completes shortened ids of a deployment's allocations. Those of others must not show in an
// error: they may be of other namespaces.
func allocationIDs(v *state.Snapshot, d *api.Deployment, ids []string) ([]string, error) {
	whole := make([]string, len(ids))
	for i, id := range ids {
		own := func(prefix string) iter.Seq[*api.Allocation] {
			return where(v.AllocationsByDeployment(d.ID), func(a *api.Allocation) bool { return strings.HasPrefix(a.ID, prefix) })
		}
		a, err := find("allocation of the deployment", id, nil, own, func(a *api.Allocation) string { return a.ID })
		if err != nil {
			return nil, err
		}
		whole[i] = a.ID
	}
	return whole, nil
}

func unblockDeployment(c *call, req *api.DeploymentUnblockRequest) (*api.DeploymentResponse, uint64, error) {
	if err := c.takeDeploymentID(req.DeploymentID); err != nil {
		return nil, 0, err
	}
	d, err := findDeployment(c.Server.Store().Snapshot(), c.id())
	if err != nil {
		return nil, 0, err
	}
	return deploymentChanged(c.Server.UnblockDeployment(c.r.Context(), d.ID))
}

// takeDeploymentID rejects a body about another deployment than that of the path, whose id may be complete
// already.
func (c *call) takeDeploymentID(id string) error {
	if !strings.HasPrefix(c.id(), id) {
		return api.Errorf(api.CodeInvalid, "DeploymentID: the request is about %q, but the path says %q", id, c.id())
	}
	return nil
}

func deploymentChanged(resp *api.DeploymentResponse, err error) (*api.DeploymentResponse, uint64, error) {
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}
