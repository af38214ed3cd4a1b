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
		short: "Inspect, interrupt and continue the plans of a job",
		long: `A plan is the tree of work for a job: phases contain steps, and a step is the
work on some tasks of one instance. Every job has the plan deploy. The plans
recovery, decommission, uninstall, restart and drain exist while they have work.
Jobs can declare custom plans, which operators start. Stacks also have the plans
warming and shift. JOB can be the name of a stack or unit, or UNIT@VERSION.

"reeve plan show -watch JOB PLAN" follows a plan. To preview the registration of
a job file, use "reeve job plan FILE".`,
		aliases: []string{"plans"},
		unknown: func(word string) error {
			if word == "-" || slices.Contains(jobFileEndings, filepath.Ext(word)) {
				return usagef("unknown command; to preview the registration of a job file, use \"reeve job plan %s\"", word)
			}
			return nil
		},
		verbs: []constructor{planListCommand, planShowCommand, planStartCommand, planStopCommand, planContinueCommand, planInterruptCommand, planRestartCommand, planForceCompleteCommand},
	}
}

// jobFileEndings are the file extensions of job files.
var jobFileEndings = []string{".hcl", ".nomad", ".json", ".yaml", ".yml"}
