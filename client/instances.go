// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"maps"
	"net/http"
	"net/url"

	"github.com/reeve-run/reeve/api"
)

// Instances calls the routes of instances.
type Instances struct{ c *Client }

// Instances returns the calls for instances.
func (c *Client) Instances() Instances { return Instances{c} }

// List lists a job's instances by group and index, without TaskStates unless q.Params has
// task_states=true.
func (i Instances) List(ctx context.Context, job string, q *QueryOptions) ([]*api.Instance, *QueryMeta, error) {
	return get[[]*api.Instance](ctx, i.c, pathf("/v1/job/%s/instances", job), q)
}

// An InstancesFilter selects instances. Empty fields match all.
type InstancesFilter struct {
	Job      string
	Domain   *string // domain of the job; "" is that of jobs that name none
	Node     string  // id or a prefix of it
	Instance string  // group-index, or an index
	State    string
	Presence string

	TaskStates bool // include Instance.TaskStates
}

// All lists the instances of all jobs of the namespace, or of all namespaces if it is "*", by
// job, group and index.
func (i Instances) All(ctx context.Context, f InstancesFilter, q *QueryOptions) ([]*api.Instance, *QueryMeta, error) {
	with := QueryOptions{}
	if q != nil {
		with = *q
	}
	with.Params = maps.Clone(with.Params)
	if with.Params == nil {
		with.Params = url.Values{}
	}
	for name, value := range map[string]string{"job": f.Job, "node": f.Node, "instance": f.Instance, "state": f.State, "presence": f.Presence} {
		if value != "" {
			with.Params.Set(name, value)
		}
	}
	if f.TaskStates {
		with.Params.Set("task_states", "true")
	}
	if f.Domain != nil {
		with.Params.Set("domain", *f.Domain)
	}
	return get[[]*api.Instance](ctx, i.c, "/v1/instances", &with)
}

// Kill stops the allocation of a job's instance; another allocation replaces it immediately.
func (i Instances) Kill(ctx context.Context, job, name string) (*api.KillInstanceResponse, error) {
	return send[*api.KillInstanceResponse](ctx, i.c, http.MethodDelete, pathf("/v1/job/%s/instance/%s", job, name), nil, nil)
}

// Get returns a job's instance by its name, such as "web-0".
func (i Instances) Get(ctx context.Context, job, name string, q *QueryOptions) (*api.Instance, *QueryMeta, error) {
	return get[*api.Instance](ctx, i.c, pathf("/v1/job/%s/instance/%s", job, name), q)
}

// Do applies an operator's verb to an instance: restart, replace, pause or resume. Nil is the
// same as an empty request.
func (i Instances) Do(ctx context.Context, job, name string, verb api.Verb, req *api.InstanceRequest) (*api.InstanceResponse, error) {
	if req == nil {
		req = &api.InstanceRequest{}
	}
	return send[*api.InstanceResponse](ctx, i.c, http.MethodPut, pathf("/v1/job/%s/instance/%s/%s", job, name, string(verb)), nil, req)
}
