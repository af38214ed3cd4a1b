// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

func jobScaleCommand(c *cli) *cobra.Command {
	var (
		detach     bool
		wide       bool
		checkIndex uint64
		message    string
	)
	cmd := &cobra.Command{
		Use:   "scale JOB [GROUP] COUNT",
		Short: "Set how many instances of a group should run",
		Long: `Sets the count of a job's group. GROUP may be left out when the job has only
one. Instances are started or stopped, the highest index first; the others are
left alone.`,
		Example: `reeve job scale web 5
reeve job scale shop cart 3`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 2 || len(args) == 3 {
				return nil
			}
			return usagef("this command takes JOB, GROUP (when the job has several) and COUNT")
		},
		ValidArgsFunction: c.completeIDs(api.SearchJobs),
		Annotations:       map[string]string{annotationExitCodes: jobRunExitCodes},
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.ParseInt(args[len(args)-1], 10, 32)
			if err != nil || n < 0 {
				return usagef("%q is not a count: give a number from 0", args[len(args)-1])
			}
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, cl, err := c.resolveJob(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			group, err := groupToScale(cmd.Context(), cl, id, args[1:len(args)-1])
			if err != nil {
				return err
			}
			resp, err := cl.Jobs().Scale(cmd.Context(), id, &api.ScaleJobRequest{
				Count: &n, Target: map[string]string{"Group": group}, JobModifyIndex: checkIndex,
				Message: cmp.Or(message, "reeve job scale"),
			})
			if err != nil {
				return err
			}
			c.warn(resp.Warnings)
			done := fmt.Sprintf("Group %q of job %q scaled to %d", group, id, n)
			return c.follow(cmd.Context(), cl, id, done, resp.EvalID, detach, wide)
		},
	}
	addFollowFlags(cmd, &detach, &wide)
	cmd.Flags().Uint64Var(&checkIndex, "check-index", 0, "scale only if the job's modify index is `N`")
	cmd.Flags().StringVar(&message, "message", "", "`TEXT` to record beside the change")
	return cmd
}

// groupToScale is the group that was named, or the only one of the job.
func groupToScale(ctx context.Context, cl *client.Client, id string, named []string) (string, error) {
	if len(named) == 1 {
		return named[0], nil
	}
	job, _, err := cl.Jobs().Get(ctx, id, nil)
	if err != nil {
		return "", err
	}
	if len(job.Groups) == 1 {
		return job.Groups[0].Name, nil
	}
	var names []string
	for _, g := range job.Groups {
		names = append(names, g.Name)
	}
	return "", usagef("job %q has several groups: say which of %s to scale", id, strings.Join(names, ", "))
}
