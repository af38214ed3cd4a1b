// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

const jobPlanExitCodes = `0    registering the file would not start, stop or change allocations
1    registering the file would start, stop or change allocations
255  the plan failed; stderr has the reason`

func jobPlanCommand(c *cli) *command {
	var (
		file       jobFile
		request    api.PlanJobRequest
		jsonOutput bool
		template   string
		verbose    bool
	)
	return &command{
		use:   "plan FILE",
		short: "Preview the registration of a job file",
		long: `Compare the job of a file ("-" is stdin) with the registered job, place it
tentatively, and show the result. The command changes nothing.

The last line is the command that registers exactly this plan. It fails if the
job has changed since.`,
		example: `reeve job plan web.hcl
reeve job plan -var version=2 web.hcl`,
		exitCodes: jobPlanExitCodes,
		errorCode: 255,
		complete:  completeJobFiles,
		flags: func(f *pflag.FlagSet) {
			file.addTo(f)
			f.BoolVar(&request.Diff, "diff", true, "show the differences between the registered job and the file")
			f.BoolVar(&request.PolicyOverride, "policy-override", false, "accepted for compatibility; without effect")
			f.BoolVar(&jsonOutput, "json-output", false, "print the plan as JSON, as the HTTP API returns it")
			f.StringVarP(&template, "template", "t", "", "print the plan through a Go `TEMPLATE`")
			f.BoolVar(&verbose, "verbose", false, "also show unchanged fields")
		},
		offline: true,
		run: func(r *call) error {
			in, err := file.load(c, r.args[0])
			if err != nil {
				return err
			}
			request.Job = in.job
			return in.explain(c.planJob(r.ctx, &request, planOutput{
				format: format{json: jsonOutput, template: template}, command: file.runCommand(r.args[0]), verbose: verbose,
			}))
		},
	}
}

// planOutput selects the output of a plan, and holds the command that would register it.
type planOutput struct {
	format  format
	command []string
	verbose bool
}

// runCommand returns the arguments of "job run" for this file with these variables.
func (f *jobFile) runCommand(path string) []string {
	var args []string
	if f.json {
		args = append(args, "-json")
	}
	for _, v := range f.vars {
		args = append(args, "-var", human.ShellQuote(v))
	}
	for _, v := range f.varFiles {
		args = append(args, "-var-file", human.ShellQuote(v))
	}
	return append(args, human.ShellQuote(path))
}

func (c *cli) planJob(ctx context.Context, req *api.PlanJobRequest, out planOutput) error {
	cl, err := c.connect()
	if err != nil {
		return err
	}
	if req.Job.Namespace != "" {
		cl = cl.WithNamespace(req.Job.Namespace)
	}
	plan, err := cl.Jobs().Plan(ctx, req)
	if err != nil {
		return err
	}
	if err := c.show(out.format, plan, func(p *term.Page) {
		p.Complete = out.verbose
		view.JobPlan(p, plan, req, out.command)
	}); err != nil {
		return err
	}
	if out.format.forPeople() {
		c.warn(plan.Warnings)
	}
	if view.PlanChanges(plan) {
		return exitWith(exitChanges)
	}
	return nil
}
