// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
)

func nodePurgeCommand(c *cli) *command {
	return &command{
		use:   "purge NODE",
		short: "Forget a node; what it ran is lost and replaced",
		long: `Forgets a node that will not come back, rather than wait until it is collected.
What it ran counts as lost and is replaced elsewhere. An agent that lives
registers again, and stops what it ran before. Drain a node that works instead.`,
		example: "reeve node purge 51c0",
		strict:  true,
		confirm: func(r *call) (string, error) {
			n, _, err := r.cl.Nodes().Get(r.ctx, r.args[0], nil)
			if err != nil || n.Status != api.NodeStatusReady {
				return "", err
			}
			return fmt.Sprintf("Node %s (%s) is alive. Forget it all the same?", api.ShortID(n.ID), n.Name), nil
		},
		run: func(r *call) error {
			id := r.args[0]
			n, _, err := r.cl.Nodes().Get(r.ctx, id, nil)
			if err != nil {
				return err
			}
			resp, err := r.cl.Nodes().Purge(r.ctx, id)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Node %s (%s) is forgotten; %s.\n", api.ShortID(id), n.Name, evaluated(resp.EvalIDs))
			return nil
		},
	}
}

func evaluated(ids []string) string {
	if len(ids) == 0 {
		return "no job had anything on it"
	}
	return human.Count(len(ids), "job is evaluated", "jobs are evaluated")
}

func nodeEvaluateCommand(c *cli) *command {
	return &command{
		use:     "evaluate NODE",
		short:   "Have the jobs looked at that have something on a node",
		long:    "Makes an evaluation for every job that has an allocation on the node.",
		example: "reeve node evaluate 51c0",
		run: func(r *call) error {
			id := r.args[0]
			resp, err := r.cl.Nodes().Evaluate(r.ctx, id)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Node %s: %s.\n", api.ShortID(id), evaluated(resp.EvalIDs))
			return nil
		},
	}
}
