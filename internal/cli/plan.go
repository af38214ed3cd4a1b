// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"path/filepath"
	"slices"
)

func planCommand(c *cli) *command {
	return &command{
		use:   "plan",
		short: "Look at, hold and continue what is being done to a job",
		long: `A plan is a tree of what there is to do for a job: phases, and in them steps,
each of which is the work on some tasks of one instance. Every job has the plan
deploy; recovery, decommission, uninstall, restart and drain are there when
they are needed, and others are declared in the job and started by hand.

"reeve plan show -watch JOB PLAN" follows one. To see what registering a job
file would change, use "reeve job plan FILE".`,
		aliases: []string{"plans"},
		unknown: func(word string) error {
			if word == "-" || slices.Contains(jobFileEndings, filepath.Ext(word)) {
				return usagef("what registering a job file would change is shown by \"reeve job plan %s\"", word)
			}
			return nil
		},
		verbs: []constructor{planListCommand, planShowCommand, planStartCommand, planStopCommand, planContinueCommand, planInterruptCommand, planRestartCommand, planForceCompleteCommand},
	}
}

// jobFileEndings are those of files that somebody may want to plan.
var jobFileEndings = []string{".hcl", ".nomad", ".json", ".yaml", ".yml"}
