// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func nodePoolListCommand(c *cli) *cobra.Command {
	var f format
	var q client.QueryOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List node pools",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			pools, err := listAll(cmd.Context(), q, cl.NodePools().List)
			if err != nil {
				return err
			}
			return c.show(f, pools, func(p *term.Page) { view.NodePools(p, pools) })
		},
	}
	f.addTo(cmd.Flags())
	addListFlags(cmd, &q)
	return cmd
}

func nodePoolInfoCommand(c *cli) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:   "info POOL",
		Short: "Show a node pool",
		Args:  exactly(1, "POOL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			pool, _, err := cl.NodePools().Get(cmd.Context(), args[0], nil)
			if err != nil {
				return err
			}
			return c.show(f, pool, func(p *term.Page) { view.NodePool(p, pool) })
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}

func nodePoolNodesCommand(c *cli) *cobra.Command {
	var f format
	var wide bool
	cmd := &cobra.Command{
		Use:   "nodes POOL",
		Short: "List the nodes of a node pool",
		Args:  exactly(1, "POOL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			if _, _, err := cl.NodePools().Get(cmd.Context(), args[0], nil); err != nil {
				return err
			}
			nodes, _, err := cl.NodePools().Nodes(cmd.Context(), args[0], nil)
			if err != nil {
				return err
			}
			return c.show(f, nodes, func(p *term.Page) {
				if len(nodes) == 0 {
					p.Line("No nodes in node pool %q.", args[0])
					return
				}
				view.Nodes(p, nodes, wide)
			})
		},
	}
	f.addTo(cmd.Flags())
	cmd.Flags().BoolVar(&wide, "verbose", false, "show whole ids and versions")
	return cmd
}

func nodePoolJobsCommand(c *cli) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:   "jobs POOL",
		Short: "List the jobs of a node pool",
		Args:  exactly(1, "POOL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			if _, _, err := cl.NodePools().Get(cmd.Context(), args[0], nil); err != nil {
				return err
			}
			jobs, _, err := cl.NodePools().Jobs(cmd.Context(), args[0], nil)
			if err != nil {
				return err
			}
			return c.show(f, jobs, func(p *term.Page) {
				if len(jobs) == 0 {
					p.Line("No jobs in node pool %q.", args[0])
					return
				}
				view.Jobs(p, jobs, false)
			})
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}
