// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
)

func systemCommand(c *cli) *command {
	return &command{
		use:   "system",
		short: "What concerns the cluster as a whole",
		verbs: []constructor{systemGCCommand},
	}
}

func systemGCCommand(c *cli) *command {
	return &command{
		use:   "gc",
		short: "Forget now all that has ended",
		long: `Servers forget what ended some time ago by themselves: evaluations, allocations,
deployments, dead jobs and nodes that are gone. This does it at once, however
short ago something ended. What runs, or is still needed, stays.`,
		example: `reeve system gc`,
		run: func(r *call) error {
			if err := r.cl.System().CollectGarbage(r.ctx); err != nil {
				return err
			}
			fmt.Fprintln(c.Stdout, "What had ended is forgotten.")
			return nil
		},
	}
}
