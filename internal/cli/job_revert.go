// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
)

func jobRevertCommand(c *cli) *cobra.Command {
	var detach, wide bool
	cmd := &cobra.Command{
		Use:   "revert JOB VERSION",
		Short: "Run an older version of a job again, as a new version",
		Long: `Registers an older version of a job again. It becomes a new version: numbers
only go up. "job history" lists the versions that are kept.`,
		Example:           "reeve job revert web 0",
		Args:              exactly(2, "JOB and VERSION"),
		ValidArgsFunction: c.completeIDs(api.SearchJobs),
		Annotations:       map[string]string{annotationExitCodes: jobRunExitCodes},
		RunE: func(cmd *cobra.Command, args []string) error {
			version, err := strconv.ParseUint(args[1], 10, 64)
			if err != nil {
				return usagef("%q is not a version: versions are numbers from 0", args[1])
			}
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, cl, err := c.resolveJob(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			resp, err := cl.Jobs().Revert(cmd.Context(), &api.RevertJobRequest{JobID: id, JobVersion: version})
			if err != nil {
				return err
			}
			c.warn(resp.Warnings)
			done := fmt.Sprintf("Job %q reverted to version %d", id, version)
			return c.follow(cmd.Context(), cl, id, done, resp.EvalID, detach, wide)
		},
	}
	addFollowFlags(cmd, &detach, &wide)
	return cmd
}

// addFollowFlags gives a command the flags of those that change a job and then
// follow it.
func addFollowFlags(cmd *cobra.Command, detach, wide *bool) {
	cmd.Flags().BoolVar(detach, "detach", false, "return as soon as the change is registered")
	cmd.Flags().BoolVar(wide, "verbose", false, "print whole ids")
}
