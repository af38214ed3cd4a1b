// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// Jobs calls the routes of jobs.
type Jobs struct{ c *Client }

// Jobs returns the calls for jobs.
func (c *Client) Jobs() Jobs { return Jobs{c} }

// List lists jobs by namespace and id.
func (j Jobs) List(ctx context.Context, q *QueryOptions) ([]*api.JobListStub, *QueryMeta, error) {
	return get[[]*api.JobListStub](ctx, j.c, "/v1/jobs", q)
}

// Get returns a job's current version.
func (j Jobs) Get(ctx context.Context, id string, q *QueryOptions) (*api.Job, *QueryMeta, error) {
	return get[*api.Job](ctx, j.c, pathf("/v1/job/%s", id), q)
}

// Register registers a job. It returns when the job and its evaluation are durable; placement
// follows.
func (j Jobs) Register(ctx context.Context, req *api.RegisterJobRequest) (*api.RegisterJobResponse, error) {
	return send[*api.RegisterJobResponse](ctx, j.c, http.MethodPut, "/v1/jobs", nil, req)
}

// Change changes a job without restarting tasks. The server rejects a change that needs a
// restart, and names the fields.
func (j Jobs) Change(ctx context.Context, id string, change *api.JobChange) (*api.ChangeJobResponse, error) {
	return send[*api.ChangeJobResponse](ctx, j.c, http.MethodPatch, pathf("/v1/job/%s", id), nil, change)
}

// Plan returns the effects of registering a job. It changes nothing.
func (j Jobs) Plan(ctx context.Context, req *api.PlanJobRequest) (*api.PlanJobResponse, error) {
	if req.Job == nil || req.Job.ID == "" {
		return nil, api.Errorf(api.CodeInvalid, "the job to plan has no ID")
	}
	return send[*api.PlanJobResponse](ctx, j.c, http.MethodPut, pathf("/v1/job/%s/plan", req.Job.ID), nil, req)
}

// Validate returns the errors of a job. It changes nothing.
func (j Jobs) Validate(ctx context.Context, job *api.Job) (*api.ValidateJobResponse, error) {
	return send[*api.ValidateJobResponse](ctx, j.c, http.MethodPut, "/v1/validate/job", nil, &api.ValidateJobRequest{Job: job})
}

// Parse parses a job file on the server.
func (j Jobs) Parse(ctx context.Context, req *api.ParseJobRequest) (*api.Job, error) {
	return send[*api.Job](ctx, j.c, http.MethodPut, "/v1/jobs/parse", nil, req)
}

// DeregisterOptions are options of stopping a job.
type DeregisterOptions struct {
	Purge           bool // remove the job when nothing of it runs
	NoShutdownDelay bool // skip shutdown delays
	EvalPriority    int  // priority of the evaluation; 0: the job's
}

// Deregister stops a job.
func (j Jobs) Deregister(ctx context.Context, id string, o DeregisterOptions) (*api.DeregisterJobResponse, error) {
	v := url.Values{}
	if o.Purge {
		v.Set("purge", "true")
	}
	if o.NoShutdownDelay {
		v.Set("no_shutdown_delay", "true")
	}
	if o.EvalPriority != 0 {
		v.Set("eval_priority", strconv.Itoa(o.EvalPriority))
	}
	return send[*api.DeregisterJobResponse](ctx, j.c, http.MethodDelete, pathf("/v1/job/%s", id), v, nil)
}

// Evaluate creates an evaluation of the job.
func (j Jobs) Evaluate(ctx context.Context, id string, forceReschedule bool) (*api.RegisterJobResponse, error) {
	req := &api.EvaluateJobRequest{JobID: id, EvalOptions: api.EvalOptions{ForceReschedule: forceReschedule}}
	return send[*api.RegisterJobResponse](ctx, j.c, http.MethodPut, pathf("/v1/job/%s/evaluate", id), nil, req)
}

// Summary counts a job's allocations.
func (j Jobs) Summary(ctx context.Context, id string, q *QueryOptions) (*api.JobSummary, *QueryMeta, error) {
	return get[*api.JobSummary](ctx, j.c, pathf("/v1/job/%s/summary", id), q)
}

// Allocations lists a job's allocations; with all, also those of an earlier job with the same
// id.
func (j Jobs) Allocations(ctx context.Context, id string, all bool, q *QueryOptions) ([]*api.AllocationListStub, *QueryMeta, error) {
	return get[[]*api.AllocationListStub](ctx, j.c, pathf("/v1/job/%s/allocations", id), q.with("all", strconv.FormatBool(all)))
}

// Evaluations lists a job's evaluations.
func (j Jobs) Evaluations(ctx context.Context, id string, q *QueryOptions) ([]*api.Evaluation, *QueryMeta, error) {
	return get[[]*api.Evaluation](ctx, j.c, pathf("/v1/job/%s/evaluations", id), q)
}

// Deployments lists a job's deployments, newest first; with all, also those of an earlier job
// with the same id.
func (j Jobs) Deployments(ctx context.Context, id string, all bool, q *QueryOptions) ([]*api.Deployment, *QueryMeta, error) {
	return get[[]*api.Deployment](ctx, j.c, pathf("/v1/job/%s/deployments", id), q.with("all", strconv.FormatBool(all)))
}

// LatestDeployment returns a job's newest deployment; nil if it never had one.
func (j Jobs) LatestDeployment(ctx context.Context, id string, q *QueryOptions) (*api.Deployment, *QueryMeta, error) {
	return get[*api.Deployment](ctx, j.c, pathf("/v1/job/%s/deployment", id), q)
}

// with returns the options with one more parameter.
func (o *QueryOptions) with(key, value string) *QueryOptions {
	var other QueryOptions
	if o != nil {
		other = *o
	}
	params := url.Values{key: {value}}
	for k, v := range other.Params {
		params[k] = v
	}
	other.Params = params
	return &other
}
