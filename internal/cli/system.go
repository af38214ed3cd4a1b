// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
)

func systemCommand(c *cli) *command {
	return &command{
		use:   "system",
		short: "Maintain the cluster",
		verbs: []constructor{systemGCCommand},
	}
}

func systemGCCommand(c *cli) *command {
	return &command{
		use:   "gc",
		short: "Delete ended objects now",
		long: `Collect garbage now. Servers delete ended evaluations, allocations, deployments,
dead jobs and lost nodes automatically after some time; this command does not
wait. Objects that run or are still in use stay.`,
		example: `reeve system gc`,
		run: func(r *call) error {
			if err := r.cl.System().CollectGarbage(r.ctx); err != nil {
				return err
			}
			fmt.Fprintln(c.Stdout, "Deleted ended objects.")
			return nil
		},
	}
}
