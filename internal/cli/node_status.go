// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func nodeStatusCommand(c *cli) *command {
	var (
		self bool
		wide bool
	)
	return &command{
		use:    "status [NODE]",
		short:  "List nodes, or show a node with its capacity, drivers and allocations",
		long:   "List nodes, or show one. NODE is a prefix of its id, or its name.",
		format: true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&self, "self", false, "select the node of the contacted agent")
			f.BoolVar(&wide, "verbose", false, "show full ids, attributes and meta")
		},
		run: func(r *call) error {
			if len(r.args) == 0 && !self {
				return c.listNodes(r.ctx, r.cl, r.format, wide)
			}
			id, err := r.nodeOrSelf(self)
			if err != nil {
				return err
			}
			return c.showNode(r.ctx, r.cl, id, r.format, wide)
		},
	}
}

func (c *cli) listNodes(ctx context.Context, cl *client.Client, f format, wide bool) error {
	nodes, err := listAll(ctx, client.QueryOptions{}, cl.Nodes().List)
	if err != nil {
		return err
	}
	left := map[string]int{}
	for _, n := range nodes {
		if !n.Drain || !f.forPeople() {
			continue
		}
		s, _, err := cl.Nodes().DrainStatus(ctx, n.ID, nil)
		if err != nil {
			return err
		}
		left[n.ID] = len(s.Allocations)
	}
	return c.show(f, nodes, func(p *term.Page) {
		if len(nodes) == 0 {
			p.Line("No nodes. \"reeve agent\" turns a machine into a node.")
			return
		}
		view.NodesWithDrains(p, nodes, left, wide)
	})
}

// nodeOrSelf returns the id of the node in the first argument, or of the answering
// agent's node.
func (r *call) nodeOrSelf(self bool) (string, error) {
	if !self {
		return r.args[0], nil
	}
	agent, err := r.cl.Status().Self(r.ctx)
	if err != nil {
		return "", err
	}
	id := agent.Stats["client"]["node_id"]
	if id == "" {
		return "", api.Errorf(api.CodeNotFound, "the agent at %s does not run a node", r.address())
	}
	return id, nil
}

func (c *cli) showNode(ctx context.Context, cl *client.Client, id string, f format, wide bool) error {
	n, _, err := cl.Nodes().Get(ctx, id, nil)
	if err != nil {
		return err
	}
	if !f.forPeople() {
		return c.show(f, n, nil)
	}
	allocs, _, err := cl.Nodes().Allocations(ctx, id, nil)
	if err != nil {
		return err
	}
	var drain *api.NodeDrainStatus
	if n.DrainStrategy != nil {
		if drain, _, err = cl.Nodes().DrainStatus(ctx, id, nil); err != nil {
			return err
		}
	}
	return c.show(f, n, func(p *term.Page) { view.Node(p, n, drain, allocs, wide) })
}
