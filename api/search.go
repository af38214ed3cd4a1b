// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// Contexts of a search: kinds of objects.
const (
	SearchAll         = "all"
	SearchJobs        = "jobs"
	SearchAllocations = "allocs"
	SearchEvaluations = "evals"
	SearchDeployments = "deployment"
	SearchNodes       = "nodes"
	SearchNodePools   = "node_pools"
)

// SearchRequest asks for objects whose id begins with Prefix.
type SearchRequest struct {
	Prefix    string
	Context   string // one of the Search constants
	Namespace string
}

// SearchResponse holds the ids found, by context, 20 each at most.
type SearchResponse struct {
	Matches     map[string][]string
	Truncations map[string]bool // there were more
}
