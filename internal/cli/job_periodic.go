// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
)

func jobPeriodicCommand(c *cli) *command {
	return &command{
		use:   "periodic",
		short: "Start periodic jobs out of turn",
		long: `A periodic job runs nothing itself: at the times of its schedule it starts a
job of its own, its child. "reeve job status JOB" shows when the next is due.`,
		verbs: []constructor{jobPeriodicForceCommand},
	}
}

func jobPeriodicForceCommand(c *cli) *command {

	return &command{
		use:   "force JOB",
		short: "Start a periodic job now",
		long: `Starts a child of a periodic job now, whatever its schedule says, and although
an earlier child has not ended and prohibit_overlap is set. The schedule goes on
as if nothing had happened.`,
		example:   `reeve job periodic force backup`,
		follow:    true,
		exitCodes: jobRunExitCodes,
		run: func(r *call) error {
			id := r.args[0]
			resp, err := r.cl.Jobs().ForcePeriodic(r.ctx, id)
			if err != nil {
				return err
			}
			e, _, err := r.cl.Evaluations().Get(r.ctx, resp.EvalID, nil)
			if err != nil {
				return err
			}
			return r.followJob(e.JobID, fmt.Sprintf("Started job %q as %q", id, e.JobID), resp.EvalID)
		},
	}
}
