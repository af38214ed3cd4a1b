// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func nodePoolListCommand(c *cli) *command {
	var q client.QueryOptions
	return &command{
		use:    "list",
		short:  "List node pools",
		format: true,
		flags: func(f *pflag.FlagSet) {
			addListFlags(f, &q)
		},
		run: func(r *call) error {
			pools, err := listAll(r.ctx, q, r.cl.NodePools().List)
			if err != nil {
				return err
			}
			return r.show(pools, func(p *term.Page) { view.NodePools(p, pools) })
		},
	}
}

func nodePoolInfoCommand(c *cli) *command {
	return &command{
		use:    "info POOL",
		short:  "Show a node pool",
		format: true,
		run: func(r *call) error {
			return c.showNodePool(r.ctx, r.cl, r.args[0], r.format)
		},
	}
}

func (c *cli) showNodePool(ctx context.Context, cl *client.Client, name string, f format) error {
	pool, _, err := cl.NodePools().Get(ctx, name, nil)
	if err != nil {
		return err
	}
	return c.show(f, pool, func(p *term.Page) { view.NodePool(p, pool) })
}

func nodePoolNodesCommand(c *cli) *command {
	var wide bool
	return &command{
		use:    "nodes POOL",
		short:  "List the nodes of a node pool",
		format: true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&wide, "verbose", false, "show full ids and versions")
		},
		run: func(r *call) error {
			if _, _, err := r.cl.NodePools().Get(r.ctx, r.args[0], nil); err != nil {
				return err
			}
			nodes, _, err := r.cl.NodePools().Nodes(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			return r.show(nodes, func(p *term.Page) {
				if len(nodes) == 0 {
					p.Line("No nodes in node pool %q.", r.args[0])
					return
				}
				view.Nodes(p, nodes, wide)
			})
		},
	}
}

func nodePoolJobsCommand(c *cli) *command {
	return &command{
		use:    "jobs POOL",
		short:  "List the jobs of a node pool",
		format: true,
		run: func(r *call) error {
			if _, _, err := r.cl.NodePools().Get(r.ctx, r.args[0], nil); err != nil {
				return err
			}
			jobs, _, err := r.cl.NodePools().Jobs(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			return r.show(jobs, func(p *term.Page) {
				if len(jobs) == 0 {
					p.Line("No jobs in node pool %q.", r.args[0])
					return
				}
				view.Jobs(p, jobs, false)
			})
		},
	}
}
