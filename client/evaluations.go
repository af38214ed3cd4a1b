// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"

	"github.com/reeve-run/reeve/api"
)

// Evaluations calls the routes of evaluations.
type Evaluations struct{ c *Client }

// Evaluations returns the calls for evaluations.
func (c *Client) Evaluations() Evaluations { return Evaluations{c} }

// List lists evaluations by id.
func (e Evaluations) List(ctx context.Context, q *QueryOptions) ([]*api.Evaluation, *QueryMeta, error) {
	return get[[]*api.Evaluation](ctx, e.c, "/v1/evaluations", q)
}

// Count counts evaluations.
func (e Evaluations) Count(ctx context.Context, q *QueryOptions) (int, *QueryMeta, error) {
	n, meta, err := get[api.EvaluationCount](ctx, e.c, "/v1/evaluations/count", q)
	return n.Count, meta, err
}

// Get returns an evaluation by its id or a prefix of it, with stubs of related evaluations.
func (e Evaluations) Get(ctx context.Context, id string, q *QueryOptions) (*api.Evaluation, *QueryMeta, error) {
	return get[*api.Evaluation](ctx, e.c, pathf("/v1/evaluation/%s", id), q.with("related", "true"))
}

// Delete deletes evaluations by id or by filter, and returns their number.
func (e Evaluations) Delete(ctx context.Context, req *api.EvaluationDeleteRequest) (int, error) {
	res, err := send[api.EvaluationDeleteResponse](ctx, e.c, http.MethodDelete, "/v1/evaluations", nil, req)
	return res.Count, err
}

// Unblock evaluates a blocked evaluation now.
func (e Evaluations) Unblock(ctx context.Context, id string) (*api.EvaluationUnblockResponse, error) {
	return send[*api.EvaluationUnblockResponse](ctx, e.c, http.MethodPut, pathf("/v1/evaluation/%s/unblock", id), nil, nil)
}

// Allocations lists the allocations that an evaluation made or changed.
func (e Evaluations) Allocations(ctx context.Context, id string, q *QueryOptions) ([]*api.AllocationListStub, *QueryMeta, error) {
	return get[[]*api.AllocationListStub](ctx, e.c, pathf("/v1/evaluation/%s/allocations", id), q)
}
