// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"

	"github.com/reeve-run/reeve/api"
)

// Routes calls the routes of jobs' routes on the router.
type Routes struct{ c *Client }

// Routes returns the calls for routes.
func (c *Client) Routes() Routes { return Routes{c} }

// List lists the routes of all jobs of the namespace, or of all namespaces if it is "*", by
// host and path.
func (r Routes) List(ctx context.Context, q *QueryOptions) ([]*api.RouteListStub, *QueryMeta, error) {
	return get[[]*api.RouteListStub](ctx, r.c, "/v1/routes", q)
}
