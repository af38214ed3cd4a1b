// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"

	"github.com/reeve-run/reeve/api"
)

// Callbacks calls the routes of callbacks, which report the ends of jobs.
type Callbacks struct{ c *Client }

// Callbacks returns the calls for callbacks.
func (c *Client) Callbacks() Callbacks { return Callbacks{c} }

// List lists the callbacks of all jobs, oldest first.
func (k Callbacks) List(ctx context.Context, q *QueryOptions) ([]*api.Callback, *QueryMeta, error) {
	return get[[]*api.Callback](ctx, k.c, "/v1/callbacks", q)
}

// Get returns a callback by its id or a prefix of it.
func (k Callbacks) Get(ctx context.Context, id string, q *QueryOptions) (*api.Callback, *QueryMeta, error) {
	return get[*api.Callback](ctx, k.c, pathf("/v1/callback/%s", id), q)
}

// OfJob lists a job's callbacks, newest first.
func (k Callbacks) OfJob(ctx context.Context, job string, q *QueryOptions) ([]*api.Callback, *QueryMeta, error) {
	return get[[]*api.Callback](ctx, k.c, pathf("/v1/job/%s/callbacks", job), q)
}
