// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
)

func evalUnblockCommand(c *cli) *command {
	return &command{
		use:   "unblock EVAL",
		short: "Have a blocked evaluation tried now, whatever it waits for",
		long: `A blocked evaluation waits for a change that could help it, and is woken by it.
This has it tried at once. If its instances still have no place, a new blocked
evaluation waits on.`,
		example: `reeve eval unblock 5c1f`,
		run: func(r *call) error {
			id := r.args[0]
			if _, err := r.cl.Evaluations().Unblock(r.ctx, id); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Evaluation %s is tried again; \"reeve eval status %s\" shows what came of it.\n", api.ShortID(id), api.ShortID(id))
			return nil
		},
	}
}
