// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func nodeStatusCommand(c *cli) *cobra.Command {
	var (
		f    format
		self bool
		wide bool
	)
	cmd := &cobra.Command{
		Use:               "status [NODE]",
		Short:             "List nodes, or show one with its room, drivers and allocations",
		Long:              "Lists the nodes, or shows one. NODE is the beginning of its id, or its name.",
		Args:              atMost(1, "NODE"),
		ValidArgsFunction: c.completeIDs(api.SearchNodes),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			if len(args) == 0 && !self {
				return c.listNodes(cmd.Context(), cl, f, wide)
			}
			id, err := c.nodeID(cmd.Context(), cl, args, self)
			if err != nil {
				return err
			}
			return c.showNode(cmd.Context(), cl, id, f, wide)
		},
	}
	f.addTo(cmd.Flags())
	cmd.Flags().BoolVar(&self, "self", false, "show the node of the agent that answers")
	cmd.Flags().BoolVar(&wide, "verbose", false, "show whole ids, attributes and meta")
	return cmd
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
			p.Line("No nodes. \"reeve agent\" makes a machine one.")
			return
		}
		view.NodesWithDrains(p, nodes, left, wide)
	})
}

// nodeID is the whole id of the node that was named, or of the answering
// agent's.
func (c *cli) nodeID(ctx context.Context, cl *client.Client, args []string, self bool) (string, error) {
	if !self {
		return c.resolveNode(ctx, cl, args[0])
	}
	agent, err := cl.Status().Self(ctx)
	if err != nil {
		return "", err
	}
	id := agent.Stats["client"]["node_id"]
	if id == "" {
		return "", api.Errorf(api.CodeNotFound, "the agent at %s is no node", c.address())
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
