// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
)

func jobPeriodicCommand(c *cli) *cobra.Command {
	return noun(c, &cobra.Command{
		Use:   "periodic",
		Short: "Start periodic jobs out of turn",
		Long: `A periodic job runs nothing itself: at the times of its schedule it starts a
job of its own, its child. "reeve job status JOB" shows when the next is due.`,
	}, jobPeriodicForceCommand)
}

func jobPeriodicForceCommand(c *cli) *cobra.Command {
	var detach, wide bool
	cmd := &cobra.Command{
		Use:   "force JOB",
		Short: "Start a periodic job now",
		Long: `Starts a child of a periodic job now, whatever its schedule says, and although
an earlier child has not ended and prohibit_overlap is set. The schedule goes on
as if nothing had happened.`,
		Example:           `reeve job periodic force backup`,
		Args:              exactly(1, "JOB"),
		ValidArgsFunction: c.completeIDs(api.SearchJobs),
		Annotations:       map[string]string{annotationExitCodes: jobRunExitCodes},
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, cl, err := c.resolveJob(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			resp, err := cl.Jobs().ForcePeriodic(cmd.Context(), id)
			if err != nil {
				return err
			}
			e, _, err := cl.Evaluations().Get(cmd.Context(), resp.EvalID, nil)
			if err != nil {
				return err
			}
			return c.follow(cmd.Context(), cl, e.JobID, fmt.Sprintf("Started job %q as %q", id, e.JobID), resp.EvalID, detach, wide)
		},
	}
	addFollowFlags(cmd, &detach, &wide)
	return cmd
}
