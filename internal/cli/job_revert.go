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
		short: "Run an older version of a job again, as a new version",
		long: `Registers an older version of a job again. It becomes a new version: numbers
only go up. "job history" lists the versions that are kept.`,
		example:   "reeve job revert web 0",
		exitCodes: jobRunExitCodes,
		check: func(r *call) error {
			var err error
			version, err = strconv.ParseUint(r.args[1], 10, 64)
			if err != nil {
				return usagef("%q is not a version: versions are numbers from 0", r.args[1])
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
			done := fmt.Sprintf("Job %q reverted to version %d", id, version)
			return r.followJob(id, done, resp.EvalID)
		},
	}
}
