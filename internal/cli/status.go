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
	if err := c.readAttention(ctx, cl, s); err != nil {
		return nil, err
	}
	s.Nodes, err = listAll(ctx, client.QueryOptions{}, cl.Nodes().List)
	if s.NodesHidden = api.CodeOf(err) == api.CodeForbidden; err != nil && !s.NodesHidden {
		return nil, err
	}
	s.Jobs, err = listAll(ctx, client.QueryOptions{}, cl.Jobs().List)
	return s, err
}

// readAttention reads the servers, and what waits for a person. Callers without an operator's
// rights, and users of older servers, see the rest of the status.
func (c *cli) readAttention(ctx context.Context, cl *client.Client, s *view.ClusterStatus) error {
	var err error
	if s.Members, err = cl.Servers().List(ctx); err == nil {
		s.Attention, err = cl.Servers().Attention(ctx)
	}
	if err == nil {
		s.Snapshots, err = cl.Operator().SnapshotSchedules(ctx)
	}
	if err != nil && !isHidden(err) {
		return err
	}
	s.Attention = append(s.Attention, view.AttentionToSnapshots(s.Snapshots)...)
	for _, status := range []api.PlanStatus{api.PlanWaiting, api.PlanError} {
		plans, err := c.listPlans(ctx, cl, nil, status)
		if err != nil && !isHidden(err) {
			return err
		}
		s.Attention = append(s.Attention, view.AttentionToPlans(plans, status)...)
	}
	return nil
}

// isHidden reports whether an answer is missing because of the caller's rights or the server's
// version.
func isHidden(err error) bool {
	code := api.CodeOf(err)
	return code == api.CodeForbidden || code == api.CodeNotFound
}
