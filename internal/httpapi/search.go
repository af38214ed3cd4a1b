// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// searchLimit is the maximum number of ids per context.
const searchLimit = 20

// A searcher finds the ids that begin with a prefix in one context. It stops when yield
// returns false.
type searcher struct {
	context string
	find    func(c *call, v *state.Snapshot, prefix string, yield func(id string) bool)
}

// searchers lists the contexts of the search: tables that refer to each other, then the
// declared nouns.
var searchers = slices.Concat([]searcher{
	{api.SearchJobs, searchJobs},
	{api.SearchAllocations, searchAllocations},
	{api.SearchEvaluations, searchEvaluations},
	{api.SearchDeployments, searchDeployments},
	{api.SearchNodes, searchNodes},
}, declaredSearchers())

func declaredSearchers() []searcher {
	var declared []searcher
	for _, n := range state.Nouns() {
		if n.Search == "" {
			continue
		}
		declared = append(declared, searcher{n.Search, func(c *call, v *state.Snapshot, prefix string, yield func(string) bool) {
			for object := range n.All(v, prefix) {
				if n.Search == api.SearchNamespaces && !c.maySee(n.Key(object)) {
					continue
				}
				if !yield(n.Key(object)) {
					return
				}
			}
		}})
	}
	return declared
}

func searchJobs(c *call, v *state.Snapshot, prefix string, yield func(string) bool) {
	for j := range v.JobsPrefix(c.namespace, prefix) {
		if !yield(j.ID) {
			return
		}
	}
}

func searchAllocations(c *call, v *state.Snapshot, prefix string, yield func(string) bool) {
	for a := range v.AllocationsPrefix(prefix) {
		if c.inNamespace(a.Namespace) && !yield(a.ID) {
			return
		}
	}
}

func searchEvaluations(c *call, v *state.Snapshot, prefix string, yield func(string) bool) {
	for e := range v.EvaluationsPrefix(prefix) {
		if c.inNamespace(e.Namespace) && !yield(e.ID) {
			return
		}
	}
}

func searchDeployments(c *call, v *state.Snapshot, prefix string, yield func(string) bool) {
	for d := range v.DeploymentsPrefix(prefix) {
		if c.inNamespace(d.Namespace) && !yield(d.ID) {
			return
		}
	}
}

func searchNodes(_ *call, v *state.Snapshot, prefix string, yield func(string) bool) {
	for n := range v.NodesPrefix(prefix) {
		if !yield(n.ID) {
			return
		}
	}
}

func search(c *call, req *api.SearchRequest) (*api.SearchResponse, uint64, error) {
	if req.Namespace != "" {
		c.namespace = req.Namespace
	}
	if c.namespace == allNamespaces {
		if err := c.permitEvery(); err != nil {
			return nil, 0, err
		}
	}
	v := c.Server.Store().Snapshot()
	resp := &api.SearchResponse{Matches: map[string][]string{}, Truncations: map[string]bool{}}
	for _, s := range searchers {
		if req.Context != "" && req.Context != api.SearchAll && req.Context != s.context {
			continue
		}
		if !c.maySearch(s.context) {
			resp.Matches[s.context] = []string{}
			continue
		}
		ids := []string{}
		resp.Truncations[s.context] = false
		s.find(c, v, req.Prefix, func(id string) bool {
			if len(ids) == searchLimit {
				resp.Truncations[s.context] = true
				return false
			}
			ids = append(ids, id)
			return true
		})
		resp.Matches[s.context] = ids
	}
	if len(resp.Matches) == 0 {
		contexts := []string{api.SearchAll}
		for _, s := range searchers {
			contexts = append(contexts, s.context)
		}
		return nil, 0, api.Errorf(api.CodeInvalid, "Context: unknown context %q; use %s", req.Context, strings.Join(contexts, ", "))
	}
	return resp, v.Index(), nil
}
