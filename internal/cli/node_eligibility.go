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
		short:   "Set whether a node is eligible for new allocations",
		long:    "Mark a node as eligible or ineligible for new allocations. Its allocations\ncontinue to run.",
		example: "reeve node eligibility -disable 51c0",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&enable, "enable", false, "allow new allocations on the node")
			f.BoolVar(&disable, "disable", false, "place no new allocations on the node")
			f.BoolVar(&self, "self", false, "select the node of the contacted agent")
		},
		check: func(r *call) error {
			if enable == disable {
				return usagef("choose either -enable or -disable")
			}
			if len(r.args) == 0 && !self {
				return usagef("missing argument NODE; or set -self")
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
