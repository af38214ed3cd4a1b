// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// searchLimit is how many ids of one kind are returned.
const searchLimit = 20

// searchers find the ids of one kind that begin with a prefix, until yield
// says that it is enough.
var searchers = map[string]func(c *call, v *state.Snapshot, prefix string, yield func(id string) bool){
	api.SearchJobs: func(c *call, v *state.Snapshot, prefix string, yield func(string) bool) {
		for j := range v.JobsPrefix(c.namespace, prefix) {
			if !yield(j.ID) {
				return
			}
		}
	},
	api.SearchAllocations: func(c *call, v *state.Snapshot, prefix string, yield func(string) bool) {
		for a := range v.AllocationsPrefix(prefix) {
			if c.inNamespace(a.Namespace) && !yield(a.ID) {
				return
			}
		}
	},
	api.SearchEvaluations: func(c *call, v *state.Snapshot, prefix string, yield func(string) bool) {
		for e := range v.EvaluationsPrefix(prefix) {
			if c.inNamespace(e.Namespace) && !yield(e.ID) {
				return
			}
		}
	},
	api.SearchDeployments: func(c *call, v *state.Snapshot, prefix string, yield func(string) bool) {
		for d := range v.DeploymentsPrefix(prefix) {
			if c.inNamespace(d.Namespace) && !yield(d.ID) {
				return
			}
		}
	},
	api.SearchNodes: func(_ *call, v *state.Snapshot, prefix string, yield func(string) bool) {
		for n := range v.NodesPrefix(prefix) {
			if !yield(n.ID) {
				return
			}
		}
	},
}

func search(c *call, req *api.SearchRequest) (*api.SearchResponse, uint64, error) {
	if req.Namespace != "" {
		c.namespace = req.Namespace
	}
	v := c.Server.Store().Snapshot()
	resp := &api.SearchResponse{Matches: map[string][]string{}, Truncations: map[string]bool{}}
	for kind, find := range searchers {
		if req.Context != "" && req.Context != api.SearchAll && req.Context != kind {
			continue
		}
		ids := []string{}
		resp.Truncations[kind] = false
		find(c, v, req.Prefix, func(id string) bool {
			if len(ids) == searchLimit {
				resp.Truncations[kind] = true
				return false
			}
			ids = append(ids, id)
			return true
		})
		resp.Matches[kind] = ids
	}
	if len(resp.Matches) == 0 {
		return nil, 0, api.Errorf(api.CodeInvalid, "Context: there is no %q: use %s, %s, %s, %s, %s or %s", req.Context,
			api.SearchAll, api.SearchJobs, api.SearchAllocations, api.SearchEvaluations, api.SearchDeployments, api.SearchNodes)
	}
	return resp, v.Index(), nil
}
