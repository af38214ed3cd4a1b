// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

const jobRunExitCodes = `0  registered, placed, and its deployment succeeded (-detach: registered)
1  not registered, an allocation or the deployment failed, or no connection
2  registered, but some of it cannot be placed now; stderr says why`

func jobRunCommand(c *cli) *command {
	var (
		file       jobFile
		request    api.RegisterJobRequest
		checkIndex uint64
		detach     bool
		output     bool
		wide       bool
	)
	return &command{
		use:   "run FILE",
		short: "Register a job file and follow it until it runs",
		long: `Registers the job of a file ("-" is stdin) as written, and follows the
evaluation and the deployment until the job runs as it should, or does not. At
the end it prints the allocations and their addresses.

Registering a job that exists makes a new version of it, unless nothing
changed. What cannot be placed now stays queued and is placed as soon as
something changes that helps, even after this command has ended.`,
		example: `reeve job run web.hcl
reeve job run -var version=2 web.hcl
reeve job plan web.hcl; reeve job run -check-index 42 web.hcl
reeve job run -no-restart web.hcl`,
		exitCodes: jobRunExitCodes,
		complete:  completeJobFiles,
		flags: func(f *pflag.FlagSet) {
			file.addTo(f)
			f.Uint64Var(&checkIndex, "check-index", 0, "register only if the job's modify index is `N`, as \"job plan\" printed it; 0: only if the job is new")
			f.BoolVar(&detach, "detach", false, "return as soon as the job is registered")
			f.IntVar(&request.EvalPriority, "eval-priority", 0, "priority `N` of the evaluation, 1 to 100, instead of the job's")
			f.BoolVar(&output, "output", false, "print the job as JSON, with all defaults, and do not register it")
			f.BoolVar(&request.NoRestart, "no-restart", false, "refuse, with the fields, what would restart or replace something that runs")
			f.BoolVar(&request.PreserveCounts, "preserve-counts", false, "keep the counts that the job's groups have now")
			f.BoolVar(&request.PreserveResources, "preserve-resources", false, "keep the resources that the job's tasks have now")
			f.BoolVar(&request.PolicyOverride, "policy-override", false, "accepted for compatibility; there are no policies to override")
			f.BoolVar(&wide, "verbose", false, "print whole ids")
		},
		offline: true,
		run: func(r *call) error {
			in, err := file.load(c, r.args[0])
			if err != nil {
				return err
			}
			if output {
				in.job.Canonicalize()
				return writeJSON(c.Stdout, map[string]*api.Job{"Job": in.job})
			}
			request.Job, request.Submission = in.job, in.submission
			request.EnforceIndex, request.JobModifyIndex = r.flags.Changed("check-index"), checkIndex
			return in.explain(c.runJob(r.ctx, &request, detach, wide))
		},
	}
}

// warn prints what a server has to say about a job that it accepts.
func (c *cli) warn(warnings string) {
	warnings = strings.TrimSpace(warnings)
	if warnings != "" {
		fmt.Fprintf(c.Stderr, "%s %s\n", c.stderrStyle().Yellow("Warning:"), warnings)
	}
}
