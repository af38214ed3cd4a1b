// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
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
			return c.show(f, pools, func(p *page) { p.nodePools(pools) })
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
			return c.show(f, pool, func(p *page) { p.nodePool(pool) })
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
			return c.show(f, nodes, func(p *page) {
				if len(nodes) == 0 {
					p.line("No nodes in node pool %q.", args[0])
					return
				}
				p.nodes(nodes, wide)
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
			return c.show(f, jobs, func(p *page) {
				if len(jobs) == 0 {
					p.line("No jobs in node pool %q.", args[0])
					return
				}
				p.jobs(jobs, false)
			})
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}

// nodePools writes a list of node pools.
func (p *page) nodePools(pools []*api.NodePool) {
	var rows [][]string
	for _, n := range pools {
		rows = append(rows, []string{n.Name, dash(poolAlgorithm(n)), dash(n.Description)})
	}
	p.table([]string{"Name", "Algorithm", "Description"}, rows)
}

// nodePool writes one node pool.
func (p *page) nodePool(n *api.NodePool) {
	oversubscription := ""
	if s := n.SchedulerConfig; s != nil && s.MemoryOversubscriptionEnabled != nil {
		oversubscription = onOff(*s.MemoryOversubscriptionEnabled)
	}
	fields := []field{
		{"Name", n.Name}, {"Description", n.Description},
		{"Algorithm", orWord(poolAlgorithm(n), "the cluster's")},
		{"Memory oversubscription", orWord(oversubscription, "the cluster's")},
	}
	for _, key := range slices.Sorted(maps.Keys(n.Meta)) {
		fields = append(fields, field{"Meta " + key, n.Meta[key]})
	}
	p.fields(append(fields, field{"Modify index", strconv.FormatUint(n.ModifyIndex, 10)})...)
}

// poolAlgorithm is the algorithm of the pool's own; "" if it has none.
func poolAlgorithm(n *api.NodePool) string {
	if n.SchedulerConfig == nil {
		return ""
	}
	return n.SchedulerConfig.Algorithm
}
