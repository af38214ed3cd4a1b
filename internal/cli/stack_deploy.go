// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

const stackDeployExitCodes = `0    deployed, and all traffic is shifted (-until ready: ready; -detach: accepted)
1    refused
2    the stack failed, or its shift was reversed or waits for an operator
130  ended by Ctrl-C; the deployment continues`

func stackDeployCommand(c *cli) *command {
	var (
		file     jobFile
		redeploy bool
		detach   bool
		until    string
	)
	return &command{
		use:   "deploy FILE...",
		short: "Deploy the versions of units that job files describe",
		long: `Deploys each file's job as a new stack of its unit. The stack block of the job
names the version. Several files are accepted or refused together, and deploy
in the order of their dependencies.

To deploy the same version with the same content again is a success that names
the stack. Another content of a version is refused; -redeploy makes a second
stack.

The command follows the stacks until all traffic is shifted. Ctrl-C ends only
the command.`,
		example: `reeve stack deploy -var version=1.1.0 inventory.hcl
reeve stack deploy db.hcl inventory.hcl
reeve stack deploy -until ready inventory.hcl`,
		exitCodes: stackDeployExitCodes,
		format:    true,
		complete:  completeJobFiles,
		flags: func(f *pflag.FlagSet) {
			file.addVariables(f)
			f.BoolVar(&redeploy, "redeploy", false, "deploy a version again that is deployed already")
			f.BoolVar(&detach, "detach", false, "return as soon as the deployment is accepted")
			f.StringVar(&until, "until", "shifted", "follow until the stack is `STATE`: ready or shifted")
		},
		check: func(*call) error {
			if until != "ready" && until != "shifted" {
				return usagef("-until %q: use ready or shifted", until)
			}
			return nil
		},
		run: func(r *call) error {
			in, err := file.loadAll(c, r.args)
			if err != nil {
				return err
			}
			res, err := r.cl.Stacks().Deploy(r.ctx, &api.DeployStacksRequest{Jobs: jobsOf(in), Redeploy: redeploy, By: c.operator()})
			if err != nil {
				return explainAll(in, err)
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
		redeploy bool
	)
	return &command{
		use:      "plan FILE...",
		short:    "Check a deployment of stacks without starting it",
		example:  `reeve stack plan -var version=1.1.0 inventory.hcl`,
		format:   true,
		complete: completeJobFiles,
		flags: func(f *pflag.FlagSet) {
			file.addVariables(f)
			f.BoolVar(&redeploy, "redeploy", false, "deploy a version again that is deployed already")
		},
		run: func(r *call) error {
			in, err := file.loadAll(c, r.args)
			if err != nil {
				return err
			}
			res, err := r.cl.Stacks().Plan(r.ctx, &api.DeployStacksRequest{Jobs: jobsOf(in), Redeploy: redeploy})
			if err != nil {
				return explainAll(in, err)
			}
			c.warnStacks(res)
			return r.show(res, func(p *term.Page) { view.StackPlan(p, res, r.args) })
		},
	}
}

// addVariables adds the flags of a file's variables.
func (f *jobFile) addVariables(flags *pflag.FlagSet) {
	f.strict = true
	flags.StringArrayVar(&f.vars, "var", nil, "`NAME=VALUE` of a variable of the files; may be given several times")
	flags.StringArrayVar(&f.varFiles, "var-file", nil, "`FILE` of NAME = VALUE lines; may be given several times")
}

func (f *jobFile) loadAll(c *cli, paths []string) ([]*loaded, error) {
	var all []*loaded
	var errs []error
	for _, path := range paths {
		in, err := f.load(c, path)
		if err == nil && in.job.Stack == nil {
			err = fmt.Errorf("%s: job %q has no stack block: add stack { version = \"1.0.0\" }, or run it with: reeve job run %s", path, in.job.ID, path)
		}
		all, errs = append(all, in), append(errs, err)
	}
	return all, errors.Join(errs...)
}

func jobsOf(in []*loaded) (jobs []*api.Job) {
	for _, l := range in {
		jobs = append(jobs, l.job)
	}
	return jobs
}

// explainAll shows in the files what a server refused. The details about a job begin with
// its unit if there are several.
func explainAll(in []*loaded, err error) error {
	var e *api.Error
	if !errors.As(err, &e) || len(e.Detail) == 0 {
		return err
	}
	var errs []error
	for _, l := range in {
		part := &api.Error{Code: e.Code, Message: e.Message}
		for _, text := range e.Detail {
			own, ok := strings.CutPrefix(text, fmt.Sprintf("unit %q, ", l.job.ID))
			if ok || len(in) == 1 {
				part.Detail = append(part.Detail, own)
			}
		}
		if len(part.Detail) > 0 {
			errs = append(errs, l.explain(part))
		}
	}
	if len(errs) == 0 {
		return err
	}
	return errors.Join(errs...)
}

func (c *cli) warnStacks(res *api.DeployStacksResponse) {
	if res.Warnings != "" {
		fmt.Fprintf(c.Stderr, "Warnings:\n%s", res.Warnings)
	}
}
