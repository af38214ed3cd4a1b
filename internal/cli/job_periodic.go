// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
)

func jobPeriodicCommand(c *cli) *command {
	return &command{
		use:   "periodic",
		short: "Start periodic jobs by hand",
		long: `A periodic job runs no tasks itself: at the times of its schedule it starts
child jobs. "reeve job status JOB" shows the next start.`,
		verbs: []constructor{jobPeriodicForceCommand},
	}
}

func jobPeriodicForceCommand(c *cli) *command {
	return &command{
		use:   "force JOB",
		short: "Start a periodic job now",
		long: `Start a child of a periodic job now, regardless of its schedule and of
prohibit_overlap. The schedule does not change. JOB is also UNIT or UNIT@VERSION
of a periodic unit: its newest stack starts the child.`,
		example:   `reeve job periodic force backup`,
		follow:    true,
		units:     true,
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
