// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"

	"github.com/reeve-run/reeve/api"
)

// Nodes calls the routes of nodes.
type Nodes struct {
	c     *Client
	agent string // mark of the node's agent; "": none
}

// Nodes returns the calls for nodes, including those of a node's agent.
func (c *Client) Nodes() Nodes { return Nodes{c: c} }

// List lists nodes by id.
func (n Nodes) List(ctx context.Context, q *QueryOptions) ([]*api.NodeListStub, *QueryMeta, error) {
	return get[[]*api.NodeListStub](ctx, n.c, "/v1/nodes", q)
}

// Topology returns all nodes as columns, with the resources that their allocations hold.
// If job is not "", it also counts the job's allocations on each node.
func (n Nodes) Topology(ctx context.Context, job string, q *QueryOptions) (*api.Topology, *QueryMeta, error) {
	if job != "" {
		q = q.with("job", job)
	}
	return get[*api.Topology](ctx, n.c, "/v1/topology", q)
}

// Get returns a node by its id or a prefix of it.
func (n Nodes) Get(ctx context.Context, id string, q *QueryOptions) (*api.Node, *QueryMeta, error) {
	return get[*api.Node](ctx, n.c, pathf("/v1/node/%s", id), q)
}

// Allocations returns a node's allocations.
func (n Nodes) Allocations(ctx context.Context, id string, q *QueryOptions) ([]*api.Allocation, *QueryMeta, error) {
	return get[[]*api.Allocation](ctx, n.c, pathf("/v1/node/%s/allocations", id), q)
}

// SetEligibility sets whether new allocations may be placed on a node: api.NodeEligible or
// api.NodeIneligible.
func (n Nodes) SetEligibility(ctx context.Context, id, eligibility string) (*api.NodeEligibilityResponse, error) {
	req := &api.NodeEligibilityRequest{NodeID: id, Eligibility: eligibility}
	return send[*api.NodeEligibilityResponse](ctx, n.c, http.MethodPut, pathf("/v1/node/%s/eligibility", id), nil, req)
}

// Stats returns the current usage of a node's machine; "" is that of the answering agent.
func (n Nodes) Stats(ctx context.Context, id string) (*api.HostStats, error) {
	out, _, err := get[*api.HostStats](ctx, n.c, "/v1/client/stats", aboutNode(id))
	return out, err
}

// Images describes the images of a node's containers; "" is the node of the answering agent.
func (n Nodes) Images(ctx context.Context, id string) (*api.NodeImages, error) {
	out, _, err := get[*api.NodeImages](ctx, n.c, "/v1/client/images", aboutNode(id))
	return out, err
}

// CollectImages removes the images of a node that no allocation and no registered job needs; "" is the node of
// the answering agent.
func (n Nodes) CollectImages(ctx context.Context, id string) (*api.NodeImages, error) {
	return send[*api.NodeImages](ctx, n.c, http.MethodPut, "/v1/client/images/gc", aboutNode(id).Params, nil)
}

func aboutNode(id string) *QueryOptions {
	q := &QueryOptions{}
	if id != "" {
		q = q.with("node_id", id)
	}
	return q
}

// Drain starts, changes or ends a node's drain.
func (n Nodes) Drain(ctx context.Context, id string, req *api.NodeDrainRequest) (*api.NodeDrainResponse, error) {
	return send[*api.NodeDrainResponse](ctx, n.c, http.MethodPut, pathf("/v1/node/%s/drain", id), nil, req)
}

// DrainStatus returns the progress of a node's drain.
func (n Nodes) DrainStatus(ctx context.Context, id string, q *QueryOptions) (*api.NodeDrainStatus, *QueryMeta, error) {
	return get[*api.NodeDrainStatus](ctx, n.c, pathf("/v1/node/%s/drain", id), q)
}

// Purge removes a node; its allocations are lost and replaced.
func (n Nodes) Purge(ctx context.Context, id string) (*api.NodePurgeResponse, error) {
	return send[*api.NodePurgeResponse](ctx, n.c, http.MethodPut, pathf("/v1/node/%s/purge", id), nil, nil)
}

// Evaluate evaluates all jobs with allocations on a node.
func (n Nodes) Evaluate(ctx context.Context, id string) (*api.NodeEvaluateResponse, error) {
	return send[*api.NodeEvaluateResponse](ctx, n.c, http.MethodPut, pathf("/v1/node/%s/evaluate", id), nil, nil)
}
