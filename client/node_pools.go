// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"

	"github.com/reeve-run/reeve/api"
)

// NodePools calls the routes of node pools.
type NodePools struct{ c *Client }

// NodePools returns the calls for node pools.
func (c *Client) NodePools() NodePools { return NodePools{c} }

// List lists node pools by name.
func (n NodePools) List(ctx context.Context, q *QueryOptions) ([]*api.NodePool, *QueryMeta, error) {
	return get[[]*api.NodePool](ctx, n.c, "/v1/node/pools", q)
}

// Get returns a node pool.
func (n NodePools) Get(ctx context.Context, name string, q *QueryOptions) (*api.NodePool, *QueryMeta, error) {
	return get[*api.NodePool](ctx, n.c, pathf("/v1/node/pool/%s", name), q)
}

// Put creates or changes a node pool.
func (n NodePools) Put(ctx context.Context, pool *api.NodePool) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, n.c, http.MethodPut, "/v1/node/pools", nil, pool)
}

// Delete deletes a node pool that has neither nodes nor jobs.
func (n NodePools) Delete(ctx context.Context, name string) (*api.IndexResponse, error) {
	return send[*api.IndexResponse](ctx, n.c, http.MethodDelete, pathf("/v1/node/pool/%s", name), nil, nil)
}

// Nodes lists a pool's nodes by id.
func (n NodePools) Nodes(ctx context.Context, name string, q *QueryOptions) ([]*api.NodeListStub, *QueryMeta, error) {
	return get[[]*api.NodeListStub](ctx, n.c, pathf("/v1/node/pool/%s/nodes", name), q)
}

// Jobs lists a pool's jobs by namespace and id.
func (n NodePools) Jobs(ctx context.Context, name string, q *QueryOptions) ([]*api.JobListStub, *QueryMeta, error) {
	return get[[]*api.JobListStub](ctx, n.c, pathf("/v1/node/pool/%s/jobs", name), q)
}
