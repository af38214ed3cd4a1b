// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

func jobRevertCommand(c *cli) *command {
	var version uint64
	return &command{
		use:   "revert JOB VERSION",
		short: "Revert a job to an earlier version",
		long: `Register an earlier version of a job again, as a new version. "job history"
lists the available versions.`,
		example:   "reeve job revert web 0",
		exitCodes: jobRunExitCodes,
		check: func(r *call) error {
			var err error
			version, err = strconv.ParseUint(r.args[1], 10, 64)
			if err != nil {
				return usagef("%q is not a version; give a number from 0", r.args[1])
			}
			return nil
		},
		follow: true,
		run: func(r *call) error {
			id := r.args[0]
			resp, err := r.cl.Jobs().Revert(r.ctx, &api.RevertJobRequest{JobID: id, JobVersion: version})
			if err != nil {
				return err
			}
			c.warn(resp.Warnings)
			done := fmt.Sprintf("Reverted job %q to version %d", id, version)
			return r.followJob(id, done, resp.EvalID)
		},
	}
}
