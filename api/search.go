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
	SearchNamespaces  = "namespaces"
)

// A SearchRequest asks for the objects whose ids begin with Prefix.
type SearchRequest struct {
	Prefix    string
	Context   string // one of the Search constants
	Namespace string
}

// A SearchResponse holds the ids found, by context, at most 20 each.
type SearchResponse struct {
	Matches     map[string][]string
	Truncations map[string]bool // reports whether more were found
}
