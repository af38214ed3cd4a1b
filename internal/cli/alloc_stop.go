// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"
)

func allocStopCommand(c *cli) *command {
	var noDelay bool
	return &command{
		use:   "stop ALLOC",
		short: "Stop an allocation; its instance is placed anew",
		long: `Stops one allocation for good. Its job still wants the instance, so a new
allocation takes its place, perhaps on another node. To have fewer instances
use "job scale", to have none "job stop".`,
		example: "reeve alloc stop 3f2a",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&noDelay, "no-shutdown-delay", false, "do not wait the group's and tasks' shutdown delays")
		},
		follow: true,
		run: func(r *call) error {
			a := r.alloc
			resp, err := r.cl.Allocations().Stop(r.ctx, a.ID, noDelay)
			if err != nil {
				return err
			}
			done := fmt.Sprintf("Allocation %s is told to stop", a)
			return r.followJob(a.JobID, done, resp.EvalID)
		},
	}
}
