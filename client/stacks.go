// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// Stacks are deployed versions of units.
type Stacks struct{ c *Client }

// Stacks returns the calls about stacks.
func (c *Client) Stacks() Stacks { return Stacks{c} }

// List lists the stacks of the namespace: those of a unit if unit is not "", and those with one
// of the statuses if any are given. Without statuses it leaves out terminated stacks.
func (s Stacks) List(ctx context.Context, unit string, statuses []string, q *QueryOptions) ([]*api.StackStatus, *QueryMeta, error) {
	if unit != "" {
		q = q.with("unit", unit)
	}
	if len(statuses) > 0 {
		q = q.with("status", strings.Join(statuses, ","))
	}
	return get[[]*api.StackStatus](ctx, s.c, "/v1/stacks", q)
}

// Get returns a stack by its name or id.
func (s Stacks) Get(ctx context.Context, name string, q *QueryOptions) (*api.StackStatus, *QueryMeta, error) {
	return get[*api.StackStatus](ctx, s.c, pathf("/v1/stack/%s", name), q)
}

// Verdicts lists the audit records of a stack, newest first.
func (s Stacks) Verdicts(ctx context.Context, name string, q *QueryOptions) ([]*api.AuditRecord, *QueryMeta, error) {
	return get[[]*api.AuditRecord](ctx, s.c, pathf("/v1/stack/%s/verdicts", name), q)
}

// Graph returns the stacks of the namespace and what uses them.
func (s Stacks) Graph(ctx context.Context, q *QueryOptions) (*api.StackGraph, *QueryMeta, error) {
	return get[*api.StackGraph](ctx, s.c, "/v1/stacks/graph", q)
}

// Audit lists the audit records of the namespace, newest first.
func (s Stacks) Audit(ctx context.Context, q *QueryOptions) ([]*api.AuditRecord, *QueryMeta, error) {
	return get[[]*api.AuditRecord](ctx, s.c, "/v1/audit", q)
}

// Deploy deploys stacks: all of the request, or none.
func (s Stacks) Deploy(ctx context.Context, req *api.DeployStacksRequest) (*api.DeployStacksResponse, error) {
	return send[*api.DeployStacksResponse](ctx, s.c, http.MethodPut, "/v1/stacks", nil, req)
}

// Plan checks a deployment without storing it.
func (s Stacks) Plan(ctx context.Context, req *api.DeployStacksRequest) (*api.DeployStacksResponse, error) {
	return send[*api.DeployStacksResponse](ctx, s.c, http.MethodPut, "/v1/stacks/plan", nil, req)
}

// Register registers a stack that runs outside of Reeve.
func (s Stacks) Register(ctx context.Context, req *api.RegisterStackRequest) (*api.RegisterStackResponse, error) {
	return send[*api.RegisterStackResponse](ctx, s.c, http.MethodPut, "/v1/stacks/register", nil, req)
}

// Do applies a verb to a stack: hold, unhold, extend, expire, rescue, stop or redeploy. The
// answer to redeploy is the new stack.
func (s Stacks) Do(ctx context.Context, name, verb string, req *api.StackVerbRequest) (*api.StackResponse, error) {
	if req == nil {
		req = &api.StackVerbRequest{}
	}
	return send[*api.StackResponse](ctx, s.c, http.MethodPut, pathf("/v1/stack/%s/%s", name, verb), nil, req)
}

// Sweep sweeps all stacks now. A dry run decides without changing anything.
func (s Stacks) Sweep(ctx context.Context, dryRun bool) (*api.SweepResponse, error) {
	return send[*api.SweepResponse](ctx, s.c, http.MethodPut, "/v1/stacks/sweep", url.Values{"dry_run": {strconv.FormatBool(dryRun)}}, nil)
}
