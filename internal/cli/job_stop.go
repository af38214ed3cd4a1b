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
		short: "Stop jobs, and forget them with -purge",
		long: `Stops every instance of the jobs and waits until none runs any more. A stopped
job is still known: "job run", "job revert" and "job history" work, until it is
collected some hours later. With -purge it is forgotten at once.

When an id is only the beginning of a job's id, it asks before it stops the
job; -yes answers.`,
		example: "reeve job stop web\nreeve job stop -purge web",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&options.Purge, "purge", false, "forget the job and its versions")
			f.BoolVar(&options.NoShutdownDelay, "no-shutdown-delay", false, "do not wait the groups' and tasks' shutdown delays")
			f.IntVar(&options.EvalPriority, "eval-priority", 0, "priority `N` of the evaluation, 1 to 100, instead of the job's")
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
	done := fmt.Sprintf("Job %q is told to stop", id)
	m := c.monitor(r.cl, id, r.wide)
	if r.detach || resp.EvalID == "" {
		return c.follow(r.ctx, r.cl, id, done, resp.EvalID, true, r.wide)
	}
	fmt.Fprintf(c.Stderr, "%s; evaluation %s\n", done, m.id(resp.EvalID))
	return m.stopped(r.ctx, resp.EvalID, o.Purge)
}
