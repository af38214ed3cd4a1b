// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func statusCommand(c *cli) *command {
	return &command{
		use:   "status [ID]",
		short: "Show the cluster: servers, nodes and jobs; or whatever an id names",
		long: `Without an argument, shows who leads, how the nodes are and what runs. With the
beginning of any id, or of a job's name, shows that object, like "job status",
"alloc status", "node status", "eval status" and "deployment status" do.`,
		format: true,
		check: func(r *call) error {
			if len(r.args) == 1 {
				return c.statusOf(r.ctx, r.args[0], r.format)
			}
			return nil
		},
		run: func(r *call) error {
			s, err := c.readClusterStatus(r.ctx, r.cl)
			if err != nil {
				return err
			}
			return r.show(s, func(p *term.Page) { view.Cluster(p, s) })
		},
	}
}

func (c *cli) readClusterStatus(ctx context.Context, cl *client.Client) (*view.ClusterStatus, error) {
	s := &view.ClusterStatus{Address: c.address()}
	var err error
	if s.Leader, err = cl.Status().Leader(ctx); err != nil {
		return nil, err
	}
	if health, err := cl.Status().Health(ctx); err == nil && health.Server != nil && health.Server.Message != "ok" {
		s.Problem = health.Server.Message
	}
	if s.Servers, err = cl.Status().Peers(ctx); err != nil {
		return nil, err
	}
	if s.Nodes, err = listAll(ctx, client.QueryOptions{}, cl.Nodes().List); err != nil {
		return nil, err
	}
	s.Jobs, err = listAll(ctx, client.QueryOptions{}, cl.Jobs().List)
	return s, err
}
