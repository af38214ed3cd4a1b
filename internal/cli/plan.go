// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
)

func planCommand(c *cli) *cobra.Command {
	cmd := noun(c, &cobra.Command{
		Use:   "plan",
		Short: "Look at, hold and continue what is being done to a job",
		Long: `A plan is a tree of what there is to do for a job: phases, and in them steps,
each of which is the work on some tasks of one instance. Every job has the plan
deploy; recovery, decommission, uninstall, restart and drain are there when
they are needed, and others are declared in the job and started by hand.

"reeve plan show -watch JOB PLAN" follows one. To see what registering a job
file would change, use "reeve job plan FILE".`,
	}, planListCommand, planShowCommand, planStartCommand, planStopCommand, planContinueCommand,
		planInterruptCommand, planRestartCommand, planForceCompleteCommand)
	cmd.Aliases = []string{"plans"}
	unknown := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 && (args[0] == "-" || slices.Contains(jobFileEndings, filepath.Ext(args[0]))) {
			return usagef("what registering a job file would change is shown by \"reeve job plan %s\"", args[0])
		}
		return unknown(cmd, args)
	}
	return cmd
}

// jobFileEndings are those of files that somebody may want to plan.
var jobFileEndings = []string{".hcl", ".nomad", ".json", ".yaml", ".yml"}
