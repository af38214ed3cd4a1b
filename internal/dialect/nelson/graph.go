// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nelson

import (
	"net/http"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A stackNode is a stack of the graph with the stacks that it calls.
type stackNode struct {
	Name         string   `json:"name"`
	Dependencies []string `json:"dependencies"`
}

// A namespaceGraph is the graph of a namespace.
type namespaceGraph struct {
	Name  string      `json:"name"`
	Graph []stackNode `json:"graph"`
}

// getGraph answers with the declared dependencies of the ready stacks of a datacenter.
func getGraph(q *request) error {
	snap, dc := q.core.Store().Snapshot(), q.r.PathValue("dc")
	if err := checkDatacenter(snap, dc); err != nil {
		return err
	}
	namespaces, given := q.words("ns")
	p, g := places(snap), q.core.Graph()
	callees := make(map[string][]string)
	for _, e := range g.Edges {
		if e.Kind == edgeDeclared {
			callees[e.From] = append(callees[e.From], e.To)
		}
	}
	byNamespace := make(map[string][]stackNode)
	for _, s := range g.Nodes {
		if s.IsRoutable() && p.isIn(s, []string{dc}) && (!given || slices.Contains(namespaces, s.Namespace)) {
			byNamespace[s.Namespace] = append(byNamespace[s.Namespace], stackNode{s.Name, append([]string{}, callees[s.Name]...)})
		}
	}
	list := []namespaceGraph{}
	for name, nodes := range byNamespace {
		list = append(list, namespaceGraph{name, nodes})
	}
	slices.SortFunc(list, func(a, b namespaceGraph) int { return strings.Compare(a.Name, b.Name) })
	return q.json(http.StatusOK, list)
}

// getDeprecatedGraph answers with the callers of deprecated stacks.
func getDeprecatedGraph(q *request) error {
	type edge struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	g := q.core.Graph()
	deprecated := make(map[string]bool)
	for _, s := range g.Nodes {
		if s.Shown == api.StackDeprecated {
			deprecated[s.Namespace+" "+s.Name] = true
		}
	}
	list := []edge{}
	for _, e := range g.Edges {
		if deprecated[e.Namespace+" "+e.To] {
			list = append(list, edge{e.From, e.To})
		}
	}
	return q.json(http.StatusOK, list)
}
