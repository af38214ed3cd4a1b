// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"maps"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// statusOf shows the object whose id has a prefix.
func (c *cli) statusOf(ctx context.Context, prefix string, f format) error {
	cl, err := c.connect()
	if err != nil {
		return err
	}
	found, err := cl.Status().Search(ctx, &api.SearchRequest{Prefix: prefix, Context: api.SearchAll, Namespace: c.namespace()})
	if err != nil {
		return err
	}
	var matches []match
	for _, kind := range slices.Sorted(maps.Keys(found.Matches)) {
		for _, id := range found.Matches[kind] {
			matches = append(matches, match{id, kindInWords(kind)})
		}
	}
	if i := slices.IndexFunc(matches, func(m match) bool { return m.id == prefix }); i >= 0 {
		matches = matches[i : i+1]
	}
	id, err := theOne("object", "id", prefix, matches)
	if err != nil {
		return err
	}
	return c.showAny(ctx, cl, matches[0].about, id, f)
}

func kindInWords(kind string) string {
	switch kind {
	case api.SearchJobs:
		return "job"
	case api.SearchAllocations:
		return "allocation"
	case api.SearchEvaluations:
		return "evaluation"
	case api.SearchDeployments:
		return "deployment"
	case api.SearchNodes:
		return "node"
	case api.SearchNodePools:
		return "node pool"
	case api.SearchNamespaces:
		return "namespace"
	}
	return kind
}

func (c *cli) showAny(ctx context.Context, cl *client.Client, kind, id string, f format) error {
	switch kind {
	case "job":
		s, err := c.readJobStatus(ctx, cl, id, false)
		if err != nil {
			return err
		}
		return c.show(f, s, func(p *term.Page) {
			view.Job(p, s, false)
			view.JobNext(p, s)
		})
	case "allocation":
		s, err := c.readAllocationStatus(ctx, cl, id)
		if err != nil {
			return err
		}
		return c.show(f, s, func(p *term.Page) { view.Allocation(p, s, false) })
	case "evaluation":
		return c.showEvaluation(ctx, cl, id, f, false)
	case "deployment":
		d, _, err := cl.Deployments().Get(ctx, id, nil)
		if err != nil {
			return err
		}
		return c.showDeployment(ctx, cl, d, f, false)
	case "node":
		return c.showNode(ctx, cl, id, f, false)
	case "node pool":
		return c.showNodePool(ctx, cl, id, f)
	case "namespace":
		return c.showNamespace(ctx, cl, id, f)
	}
	return api.Errorf(api.CodeInvalid, "cannot show %q: it is %s", id, withArticle(kind))
}
