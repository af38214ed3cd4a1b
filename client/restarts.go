// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"

	"github.com/reeve-run/reeve/api"
)

// Restarts calls the routes of rolling restarts of jobs.
type Restarts struct{ c *Client }

// Restarts returns the calls for restarts.
func (c *Client) Restarts() Restarts { return Restarts{c} }

// List lists the restarts of all jobs, oldest first.
func (r Restarts) List(ctx context.Context, q *QueryOptions) ([]*api.JobRestart, *QueryMeta, error) {
	return get[[]*api.JobRestart](ctx, r.c, "/v1/restarts", q)
}

// Get returns a restart by its id or a prefix of it.
func (r Restarts) Get(ctx context.Context, id string, q *QueryOptions) (*api.JobRestart, *QueryMeta, error) {
	return get[*api.JobRestart](ctx, r.c, pathf("/v1/restart/%s", id), q)
}

// OfJob lists a job's restarts, newest first.
func (r Restarts) OfJob(ctx context.Context, job string, q *QueryOptions) ([]*api.JobRestart, *QueryMeta, error) {
	return get[[]*api.JobRestart](ctx, r.c, pathf("/v1/job/%s/restarts", job), q)
}

// Start starts a restart of a job's allocations. Nil is the same as an empty request: one at a
// time.
func (r Restarts) Start(ctx context.Context, job string, req *api.JobRestartRequest) (*api.JobRestart, error) {
	if req == nil {
		req = &api.JobRestartRequest{}
	}
	return send[*api.JobRestart](ctx, r.c, http.MethodPut, pathf("/v1/job/%s/restart", job), nil, req)
}

// Pause stops a restart from restarting further allocations. For Pause, Resume and Cancel, a
// nil request is the same as an empty one.
func (r Restarts) Pause(ctx context.Context, job, id string, req *api.JobRestartVerbRequest) (*api.JobRestart, error) {
	return r.do(ctx, http.MethodPut, pathf("/v1/job/%s/restart/%s/pause", job, id), req)
}

// Resume continues a paused restart.
func (r Restarts) Resume(ctx context.Context, job, id string, req *api.JobRestartVerbRequest) (*api.JobRestart, error) {
	return r.do(ctx, http.MethodPut, pathf("/v1/job/%s/restart/%s/resume", job, id), req)
}

// Cancel ends a restart early.
func (r Restarts) Cancel(ctx context.Context, job, id string, req *api.JobRestartVerbRequest) (*api.JobRestart, error) {
	return r.do(ctx, http.MethodDelete, pathf("/v1/job/%s/restart/%s", job, id), req)
}

func (r Restarts) do(ctx context.Context, method, path string, req *api.JobRestartVerbRequest) (*api.JobRestart, error) {
	if req == nil {
		req = &api.JobRestartVerbRequest{}
	}
	return send[*api.JobRestart](ctx, r.c, method, path, nil, req)
}
