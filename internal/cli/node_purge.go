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
		short: "Delete a node, and replace its allocations",
		long: `Delete a node that will not return, before garbage collection does. Its
allocations become lost, and are replaced on other nodes. A live agent registers
again and stops its old allocations: drain a live node instead.`,
		example: "reeve node purge 51c0",
		strict:  true,
		confirm: func(r *call) (string, error) {
			n, _, err := r.cl.Nodes().Get(r.ctx, r.args[0], nil)
			if err != nil || n.Status != api.NodeStatusReady {
				return "", err
			}
			return fmt.Sprintf("Node %s (%s) is alive. Delete it anyway?", api.ShortID(n.ID), n.Name), nil
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
			fmt.Fprintf(c.Stdout, "Deleted node %s (%s); %s.\n", api.ShortID(id), n.Name, evaluated(resp.EvalIDs))
			return nil
		},
	}
}

func evaluated(ids []string) string {
	if len(ids) == 0 {
		return "no job had allocations on it"
	}
	return human.Count(len(ids), "job is evaluated", "jobs are evaluated")
}

func nodeEvaluateCommand(c *cli) *command {
	return &command{
		use:     "evaluate NODE",
		short:   "Evaluate the jobs with allocations on a node",
		long:    "Create an evaluation for every job with an allocation on the node.",
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
