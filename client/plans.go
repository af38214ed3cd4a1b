// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"

	"github.com/reeve-run/reeve/api"
)

// Plans calls the routes of plans: trees of work towards the desired state.
type Plans struct{ c *Client }

// Plans returns the calls for plans.
func (c *Client) Plans() Plans { return Plans{c} }

// List lists the plans of all jobs, without their phases; the parameter "status" selects
// those with one status.
func (p Plans) List(ctx context.Context, q *QueryOptions) ([]*api.Plan, *QueryMeta, error) {
	return get[[]*api.Plan](ctx, p.c, "/v1/plans", q)
}

// OfJob lists a job's plans in the order of their priority, without their phases.
func (p Plans) OfJob(ctx context.Context, job string, q *QueryOptions) ([]*api.Plan, *QueryMeta, error) {
	return get[[]*api.Plan](ctx, p.c, pathf("/v1/job/%s/plans", job), q)
}

// Get returns the whole tree of a job's plan, by name or id.
func (p Plans) Get(ctx context.Context, job, plan string, q *QueryOptions) (*api.Plan, *QueryMeta, error) {
	return get[*api.Plan](ctx, p.c, pathf("/v1/job/%s/plan/%s", job, plan), q)
}

// Do applies an operator's verb to a plan, or to the phase or step that the request names. Nil
// is the same as an empty request.
func (p Plans) Do(ctx context.Context, job, plan string, verb api.Verb, req *api.PlanRequest) (*api.PlanResponse, error) {
	if req == nil {
		req = &api.PlanRequest{}
	}
	return send[*api.PlanResponse](ctx, p.c, http.MethodPut, pathf("/v1/job/%s/plan/%s/%s", job, plan, string(verb)), nil, req)
}

// Decisions lists the operators' decisions about a job's plans and instances, oldest first.
func (p Plans) Decisions(ctx context.Context, job string, q *QueryOptions) ([]*api.Decision, *QueryMeta, error) {
	return get[[]*api.Decision](ctx, p.c, pathf("/v1/job/%s/decisions", job), q)
}
