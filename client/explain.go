// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"

	"github.com/reeve-run/reeve/api"
)

// Explain returns the nodes that can take another instance of each of the job's groups, and
// all obstacles on the other nodes.
func (j Jobs) Explain(ctx context.Context, id string, q *QueryOptions) (*api.JobExplanation, *QueryMeta, error) {
	return get[*api.JobExplanation](ctx, j.c, pathf("/v1/job/%s/explain", id), q)
}

// Explain reports whether the node can take another instance of each of the job's groups, and
// returns all obstacles.
func (n Nodes) Explain(ctx context.Context, id, job string, q *QueryOptions) ([]*api.NodeExplanation, *QueryMeta, error) {
	return get[[]*api.NodeExplanation](ctx, n.c, pathf("/v1/node/%s/explain", id), q.with("job", job))
}
