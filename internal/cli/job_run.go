// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

const jobRunExitCodes = `0    registered, placed, and the deployment succeeded (-detach: registered)
1    not registered, an allocation or the deployment failed, or no connection
2    registered, but some instances cannot be placed now; stderr has the reasons
124  registered, and the deployment did not end within -timeout; it continues`

func jobRunCommand(c *cli) *command {
	var (
		file       jobFile
		request    api.RegisterJobRequest
		checkIndex uint64
		output     bool
	)
	return &command{
		use:   "run FILE",
		short: "Register a job file, and follow its deployment",
		long: `Register the job of a file ("-" is stdin), and follow the evaluation and the
deployment until they succeed or fail. Then print the allocations and their
addresses.

Registering an existing job creates a new version, unless nothing has changed.
Instances that cannot be placed now stay queued. The servers place them when
resources become available, even after this command has ended.`,
		example: `reeve job run web.hcl
reeve job run -var version=2 web.hcl
reeve job plan web.hcl; reeve job run -check-index 42 web.hcl
reeve job run -no-restart web.hcl`,
		exitCodes: jobRunExitCodes,
		complete:  completeJobFiles,
		follow:    true,
		flags: func(f *pflag.FlagSet) {
			file.addTo(f)
			f.Uint64Var(&checkIndex, "check-index", 0, "register only if the job's modify index is `N`, which \"job plan\" prints; 0 means a new job")
			f.IntVar(&request.EvalPriority, "eval-priority", 0, "set the priority `N` of the evaluation, 1 to 100 (default: the job's)")
			f.BoolVar(&output, "output", false, "print the job as JSON with all defaults; do not register it")
			f.BoolVar(&request.NoRestart, "no-restart", false, "reject a change that would restart or replace running allocations, and list its fields")
			f.BoolVar(&request.PreserveCounts, "preserve-counts", false, "keep the current counts of the job's groups")
			f.BoolVar(&request.PreserveResources, "preserve-resources", false, "keep the current resources of the job's tasks")
			f.BoolVar(&request.PolicyOverride, "policy-override", false, "accepted for compatibility; without effect")
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
			return in.explain(r.runJob(&request))
		},
	}
}

// warn prints the servers' warnings about an accepted job.
func (c *cli) warn(warnings string) {
	warnings = strings.TrimSpace(warnings)
	if warnings != "" {
		fmt.Fprintf(c.Stderr, "%s %s\n", c.stderrStyle().Yellow("Warning:"), warnings)
	}
}
