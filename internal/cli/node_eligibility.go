// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

func nodeEligibilityCommand(c *cli) *command {
	var enable, disable, self bool
	return &command{
		use:     "eligibility [NODE]",
		short:   "Say whether new allocations may be placed on a node",
		long:    "Marks a node as eligible for new allocations, or not. What runs there goes on.",
		example: "reeve node eligibility -disable 51c0",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&enable, "enable", false, "new allocations may be placed there")
			f.BoolVar(&disable, "disable", false, "no new allocations are placed there")
			f.BoolVar(&self, "self", false, "the node of the agent that answers")
		},
		check: func(r *call) error {
			if enable == disable {
				return usagef("choose -enable or -disable")
			}
			if len(r.args) == 0 && !self {
				return usagef("say which node, or -self")
			}
			return nil
		},
		run: func(r *call) error {
			id, err := r.nodeOrSelf(self)
			if err != nil {
				return err
			}
			to := api.NodeEligible
			if disable {
				to = api.NodeIneligible
			}
			if _, err := r.cl.Nodes().SetEligibility(r.ctx, id, to); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Node %s is %s.\n", api.ShortID(id), to)
			return nil
		},
	}
}
