// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

const stackDeployExitCodes = `0    deployed, and all traffic is shifted (-until ready: ready; -detach: accepted)
1    refused
2    the stack failed, or its shift was reversed
124  the deployment did not end within -timeout; it continues
130  ended by Ctrl-C; the deployment continues`

func stackDeployCommand(c *cli) *command {
	var (
		file     jobFile
		from     []string
		redeploy bool
		detach   bool
		until    string
	)
	return &command{
		use:   "deploy [FILE...]",
		short: "Deploy the versions of units that job files describe",
		long: `Deploys each file's job as a new stack of its unit. The stack block of the job
names the version. Several files are accepted or refused together, and deploy
in the order of their dependencies.

To deploy the same version with the same content again is a success that names
the stack. Another content of a version is refused; -redeploy makes a second
stack.

-from deploys what an earlier stack was deployed from, with the same values of
variables: another version as a fast way back, or a version of another
namespace. Reeve keeps it until 90 days after the end of the stack.

The command follows the stacks until all traffic is shifted, also while a
deployment or shift waits for an operator. Ctrl-C ends only the command.`,
		example: `reeve stack deploy -var version=1.1.0 inventory.hcl
reeve stack deploy db.hcl inventory.hcl
reeve stack deploy -until ready inventory.hcl
reeve stack deploy -from inventory@1.0.0
reeve stack deploy -from dev:inventory@1.1.0 -namespace prod`,
		exitCodes: stackDeployExitCodes,
		format:    true,
		limit:     true,
		complete:  completeJobFiles,
		flags: func(f *pflag.FlagSet) {
			file.addVariables(f)
			addFrom(f, &from)
			f.BoolVar(&redeploy, "redeploy", false, "deploy a version again that is deployed already")
			addFollow(f, &detach, &until)
		},
		check: func(r *call) error {
			if err := file.checkFrom(r.args, from); err != nil {
				return err
			}
			return checkUntil(until)
		},
		run: func(r *call) error {
			in, err := file.loadAll(r, r.args)
			if err != nil {
				return err
			}
			res, err := r.cl.Stacks().Deploy(r.ctx, &api.DeployStacksRequest{Jobs: jobsOf(in), From: from, Redeploy: redeploy, By: c.operator()})
			if err != nil {
				return explainAll(in, len(from) == 0, err)
			}
			c.warnStacks(res)
			if detach {
				return r.show(res, func(p *term.Page) { view.Deployed(p, res) })
			}
			return r.followStacks(res, until == "ready")
		},
	}
}

func stackPlanCommand(c *cli) *command {
	var (
		file     jobFile
		from     []string
		redeploy bool
	)
	return &command{
		use:      "plan [FILE...]",
		short:    "Check a deployment of stacks without starting it",
		example:  `reeve stack plan -var version=1.1.0 inventory.hcl`,
		format:   true,
		complete: completeJobFiles,
		flags: func(f *pflag.FlagSet) {
			file.addVariables(f)
			addFrom(f, &from)
			f.BoolVar(&redeploy, "redeploy", false, "deploy a version again that is deployed already")
		},
		check: func(r *call) error { return file.checkFrom(r.args, from) },
		run: func(r *call) error {
			in, err := file.loadAll(r, r.args)
			if err != nil {
				return err
			}
			res, err := r.cl.Stacks().Plan(r.ctx, &api.DeployStacksRequest{Jobs: jobsOf(in), From: from, Redeploy: redeploy})
			if err != nil {
				return explainAll(in, len(from) == 0, err)
			}
			c.warnStacks(res)
			return r.show(res, func(p *term.Page) { view.StackPlan(p, res, r.args, from) })
		},
	}
}

// addVariables adds the flags of a file's variables.
func (f *jobFile) addVariables(flags *pflag.FlagSet) {
	f.strict = true
	flags.StringArrayVar(&f.vars, "var", nil, "`NAME=VALUE` of a variable of the files; may be given several times")
	flags.StringArrayVar(&f.varFiles, "var-file", nil, "`FILE` of NAME = VALUE lines; may be given several times")
}

func addFrom(flags *pflag.FlagSet, from *[]string) {
	flags.StringArrayVar(from, "from", nil, "deploy again from the `SOURCE` UNIT@VERSION, NAMESPACE:UNIT@VERSION or a stack's name; may be given several times")
}

// checkFrom returns an error unless there is something to deploy, and a use for every variable.
func (f *jobFile) checkFrom(paths, from []string) error {
	switch {
	case len(paths)+len(from) == 0:
		return usagef("name a FILE, or an earlier stack with -from UNIT@VERSION")
	case len(paths) == 0 && len(f.vars)+len(f.varFiles) > 0:
		return usagef("-var and -var-file set variables of files, and -from keeps the values of the earlier deployment; name a FILE instead of -from")
	}
	return nil
}

func (c *cli) warnStacks(res *api.DeployStacksResponse) {
	if res.Warnings != "" {
		fmt.Fprintf(c.Stderr, "Warnings:\n%s", res.Warnings)
	}
}
