// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func statusCommand(c *cli) *command {
	return &command{
		use:   "status [ID]",
		short: "Show the cluster, or any object by its id",
		long: `Without ID, show the leader, nodes and jobs. ID is a prefix of the id of a job,
allocation, node, evaluation or deployment; the output is the same as that of
"job status", "alloc status" and so on.`,
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
	s := &view.ClusterStatus{Address: cl.Address()}
	var err error
	if s.Leader, err = cl.Status().Leader(ctx); err != nil {
		return nil, err
	}
	if health, err := cl.Status().Health(ctx); err == nil {
		for _, part := range []*api.AgentPartHealth{health.Client, health.Server} {
			if part != nil && part.Message != "ok" {
				s.Problem = part.Message
			}
		}
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
