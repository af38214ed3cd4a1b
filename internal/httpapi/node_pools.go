// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

var poolsByName = order[*api.NodePool]{
	key:    func(p *api.NodePool) key { return key{id: p.Name} },
	stored: true,
}

func listNodePools(c *call, v *state.Snapshot) iter.Seq[*api.NodePool] {
	return v.NodePoolsPrefix(c.prefix)
}

func showNodePool(_ *call, _ *state.Snapshot, p *api.NodePool) *api.NodePool { return p }

func getNodePool(c *call, v *state.Snapshot) (*api.NodePool, uint64, error) {
	p, err := orNotFound(v.NodePool(c.id()), "node pool %q not found", c.id())
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return p, p.ModifyIndex, nil
}

func listPoolNodes(c *call, v *state.Snapshot) iter.Seq[*api.Node] {
	all := c.id() == api.NodePoolAll
	return where(listNodes(c, v), func(n *api.Node) bool { return all || n.Pool() == c.id() })
}

func listPoolJobs(c *call, v *state.Snapshot) iter.Seq[*api.Job] {
	return where(listJobs(c, v), func(j *api.Job) bool { return j.NodePool == c.id() })
}

func putNodePool(c *call, pool *api.NodePool) (*api.IndexResponse, uint64, error) {
	index, err := c.Server.PutNodePool(c.r.Context(), pool)
	return &api.IndexResponse{Index: index}, index, err
}

func putNamedNodePool(c *call, pool *api.NodePool) (*api.IndexResponse, uint64, error) {
	switch {
	case pool.Name == "":
		pool.Name = c.id()
	case pool.Name != c.id():
		return nil, 0, api.Errorf(api.CodeInvalid, "Name: the pool in the body is %q, the one in the path %q", pool.Name, c.id())
	}
	return putNodePool(c, pool)
}

func deleteNodePool(c *call, _ *none) (*api.IndexResponse, uint64, error) {
	index, err := c.Server.DeleteNodePool(c.r.Context(), c.id())
	return &api.IndexResponse{Index: index}, index, err
}
