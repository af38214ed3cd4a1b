// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

func jobScaleCommand(c *cli) *command {
	var (
		n          int64
		checkIndex uint64
		message    string
	)
	return &command{
		use:   "scale JOB [GROUP] COUNT",
		short: "Set the count of a group",
		long: `Set the count of a job's group. GROUP is optional if the job has only one.
Scaling down stops the instances with the highest indexes. Other instances do
not change.`,
		example: `reeve job scale web 5
reeve job scale shop cart 3`,
		exitCodes: jobRunExitCodes,
		flags: func(f *pflag.FlagSet) {
			f.Uint64Var(&checkIndex, "check-index", 0, "scale only if the job's modify index is `N`")
			f.StringVar(&message, "message", "", "record `TEXT` with the change")
		},
		check: func(r *call) error {
			var err error
			n, err = strconv.ParseInt(r.args[len(r.args)-1], 10, 32)
			if err != nil || n < 0 {
				return usagef("%q is not a count; give a number from 0", r.args[len(r.args)-1])
			}
			return nil
		},
		follow: true,
		run: func(r *call) error {
			id := r.args[0]
			group, err := groupToScale(r.ctx, r.cl, id, r.args[1:len(r.args)-1])
			if err != nil {
				return err
			}
			resp, err := r.cl.Jobs().Scale(r.ctx, id, &api.ScaleJobRequest{
				Count: &n, Target: map[string]string{"Group": group}, JobModifyIndex: checkIndex,
				Message: cmp.Or(message, "reeve job scale"),
			})
			if err != nil {
				return err
			}
			c.warn(resp.Warnings)
			done := fmt.Sprintf("Scaled group %q of job %q to %d", group, id, n)
			return r.followJob(id, done, resp.EvalID)
		},
	}
}

// groupToScale returns the named group, or the only group of the job.
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
	return "", usagef("job %q has several groups: name one of %s", id, strings.Join(names, ", "))
}
