// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "fmt"

func serverPromoteCommand(c *cli) *command {
	return &command{
		use:     "promote SERVER",
		short:   "Let a server vote immediately",
		long:    "Let a new server vote without waiting until it was healthy for 10 s.",
		example: "reeve server promote db-3",
		run: func(r *call) error {
			if err := r.cl.Servers().Promote(r.ctx, r.args[0]); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Server %s votes.\n", r.args[0])
			return nil
		},
	}
}
