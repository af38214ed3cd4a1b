// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"

	"github.com/reeve-run/reeve/api"
)

// Scaling calls the routes of scaling policies, for external autoscalers.
type Scaling struct{ c *Client }

// Scaling returns the calls for scaling policies.
func (c *Client) Scaling() Scaling { return Scaling{c} }

// List lists scaling policies by job and group.
func (s Scaling) List(ctx context.Context, q *QueryOptions) ([]*api.ScalingPolicyStub, *QueryMeta, error) {
	return get[[]*api.ScalingPolicyStub](ctx, s.c, "/v1/scaling/policies", q)
}

// Get returns a scaling policy.
func (s Scaling) Get(ctx context.Context, id string, q *QueryOptions) (*api.Scaling, *QueryMeta, error) {
	return get[*api.Scaling](ctx, s.c, pathf("/v1/scaling/policy/%s", id), q)
}
