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
		short: "Stop an allocation, and replace it",
		long: `Stop one allocation permanently. The job's count does not change, so the servers
place a new allocation, possibly on another node. Use "job scale" to reduce the
number of instances, or "job stop" to stop them all.`,
		example:   "reeve alloc stop 3f2a",
		exitCodes: jobRunExitCodes,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&noDelay, "no-shutdown-delay", false, "skip the shutdown delays of the group and its tasks")
		},
		follow: true,
		run: func(r *call) error {
			a := r.alloc
			resp, err := r.cl.Allocations().Stop(r.ctx, a.ID, noDelay)
			if err != nil {
				return err
			}
			done := fmt.Sprintf("Stopping allocation %s", a)
			return r.followJob(a.JobID, done, resp.EvalID)
		},
	}
}
