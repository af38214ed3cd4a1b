// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"

	"github.com/reeve-run/reeve/api"
)

// Instances are the places of a job's groups.
type Instances struct{ c *Client }

// Instances returns the calls about instances.
func (c *Client) Instances() Instances { return Instances{c} }

// List lists a job's instances by group and index.
func (i Instances) List(ctx context.Context, job string, q *QueryOptions) ([]*api.Instance, *QueryMeta, error) {
	return get[[]*api.Instance](ctx, i.c, pathf("/v1/job/%s/instances", job), q)
}

// Get returns a job's instance by its name, such as "web-0".
func (i Instances) Get(ctx context.Context, job, name string, q *QueryOptions) (*api.Instance, *QueryMeta, error) {
	return get[*api.Instance](ctx, i.c, pathf("/v1/job/%s/instance/%s", job, name), q)
}

// Do carries out an operator's verb on an instance: restart, replace, pause or
// resume. Nil is the same as an empty request.
func (i Instances) Do(ctx context.Context, job, name string, verb api.Verb, req *api.InstanceRequest) (*api.InstanceResponse, error) {
	if req == nil {
		req = &api.InstanceRequest{}
	}
	return send[*api.InstanceResponse](ctx, i.c, http.MethodPut, pathf("/v1/job/%s/instance/%s/%s", job, name, string(verb)), nil, req)
}
