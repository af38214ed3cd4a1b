// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/client"
)

func jobStopCommand(c *cli) *command {
	var options client.DeregisterOptions
	return &command{
		use:   "stop JOB...",
		short: "Stop jobs; delete them with -purge",
		long: `Stop every instance of the jobs, and wait until they have stopped. The servers
keep a stopped job for some hours: "job run", "job revert" and "job history"
continue to work. With -purge, delete the job immediately.

The command asks for confirmation if JOB is only a prefix of a job's id; -yes
confirms.`,
		example:   "reeve job stop web\nreeve job stop -purge web",
		exitCodes: "0    stopped\n1    failed; stderr has the reason\n124  an instance still ran after -timeout; the stop continues",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&options.Purge, "purge", false, "delete the job and its versions")
			f.BoolVar(&options.NoShutdownDelay, "no-shutdown-delay", false, "skip the shutdown delays of groups and tasks")
			f.IntVar(&options.EvalPriority, "eval-priority", 0, "set the priority `N` of the evaluation, 1 to 100 (default: the job's)")
		},
		follow: true,
		each:   true,
		strict: true,
		confirm: func(r *call) (string, error) {
			if r.args[0] == r.typed[0] {
				return "", nil
			}
			return fmt.Sprintf("Stop job %q?", r.args[0]), nil
		},
		run: func(r *call) error { return c.stopJob(r, options) },
	}
}

func (c *cli) stopJob(r *call, o client.DeregisterOptions) error {
	id := r.args[0]
	resp, err := r.cl.Jobs().Deregister(r.ctx, id, o)
	if err != nil {
		return err
	}
	done := fmt.Sprintf("Stopping job %q", id)
	m := c.monitor(r.cl, id, r.wide)
	if r.detach || resp.EvalID == "" {
		return c.follow(r.ctx, r.cl, id, done, resp.EvalID, true, r.wide)
	}
	fmt.Fprintf(c.Stderr, "%s; evaluation %s\n", done, m.id(resp.EvalID))
	return r.watchJob(id, func(r *call) error { return m.stopped(r.ctx, resp.EvalID, o.Purge) })
}
