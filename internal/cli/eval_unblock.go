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
		short: "Retry a blocked evaluation now",
		long: `Retry a blocked evaluation immediately. Without this command it waits for a
change that could help. If its instances still cannot be placed, the servers
create a new blocked evaluation.`,
		example: `reeve eval unblock 5c1f`,
		run: func(r *call) error {
			id := r.args[0]
			if _, err := r.cl.Evaluations().Unblock(r.ctx, id); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Retrying evaluation %s; \"reeve eval status %s\" shows the result.\n", api.ShortID(id), api.ShortID(id))
			return nil
		},
	}
}
