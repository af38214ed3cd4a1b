// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"

	"github.com/reeve-run/reeve/api"
)

// Deployments calls the routes of deployments: rollouts of job versions.
type Deployments struct{ c *Client }

// Deployments returns the calls for deployments.
func (c *Client) Deployments() Deployments { return Deployments{c} }

// List lists deployments by id.
func (d Deployments) List(ctx context.Context, q *QueryOptions) ([]*api.Deployment, *QueryMeta, error) {
	return get[[]*api.Deployment](ctx, d.c, "/v1/deployments", q)
}

// Get returns a deployment by its id or a prefix of it.
func (d Deployments) Get(ctx context.Context, id string, q *QueryOptions) (*api.Deployment, *QueryMeta, error) {
	return get[*api.Deployment](ctx, d.c, pathf("/v1/deployment/%s", id), q)
}

// Allocations lists a deployment's allocations.
func (d Deployments) Allocations(ctx context.Context, id string, q *QueryOptions) ([]*api.AllocationListStub, *QueryMeta, error) {
	return get[[]*api.AllocationListStub](ctx, d.c, pathf("/v1/deployment/allocations/%s", id), q)
}

// Fail ends a deployment as failed, as if its progress deadline had passed.
func (d Deployments) Fail(ctx context.Context, id string) (*api.DeploymentResponse, error) {
	req := &api.DeploymentFailRequest{DeploymentID: id}
	return send[*api.DeploymentResponse](ctx, d.c, http.MethodPut, pathf("/v1/deployment/fail/%s", id), nil, req)
}

// Pause pauses or resumes a deployment.
func (d Deployments) Pause(ctx context.Context, id string, pause bool) (*api.DeploymentResponse, error) {
	return d.PauseAs(ctx, id, pause, "", "")
}

// PauseAs is Pause with the operator's name and reason.
func (d Deployments) PauseAs(ctx context.Context, id string, pause bool, by, reason string) (*api.DeploymentResponse, error) {
	req := &api.DeploymentPauseRequest{DeploymentID: id, Pause: pause, By: by, Reason: reason}
	return send[*api.DeploymentResponse](ctx, d.c, http.MethodPut, pathf("/v1/deployment/pause/%s", id), nil, req)
}

// Promote makes the canaries of the named groups, or of all groups, replace the instances
// beside them.
func (d Deployments) Promote(ctx context.Context, id string, groups ...string) (*api.DeploymentResponse, error) {
	req := &api.DeploymentPromoteRequest{DeploymentID: id, All: len(groups) == 0, Groups: groups}
	return send[*api.DeploymentResponse](ctx, d.c, http.MethodPut, pathf("/v1/deployment/promote/%s", id), nil, req)
}

// SetHealth sets the health of a deployment's allocations, by id.
func (d Deployments) SetHealth(ctx context.Context, id string, healthy, unhealthy []string) (*api.DeploymentResponse, error) {
	req := &api.DeploymentAllocationHealthRequest{DeploymentID: id, HealthyAllocationIDs: healthy, UnhealthyAllocationIDs: unhealthy}
	return send[*api.DeploymentResponse](ctx, d.c, http.MethodPut, pathf("/v1/deployment/allocation-health/%s", id), nil, req)
}

// Unblock ends a deployment that waits for other regions.
func (d Deployments) Unblock(ctx context.Context, id string) (*api.DeploymentResponse, error) {
	req := &api.DeploymentUnblockRequest{DeploymentID: id}
	return send[*api.DeploymentResponse](ctx, d.c, http.MethodPut, pathf("/v1/deployment/unblock/%s", id), nil, req)
}
