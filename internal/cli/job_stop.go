// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func jobStopCommand(c *cli) *cobra.Command {
	var (
		options client.DeregisterOptions
		detach  bool
		wide    bool
		yes     bool
	)
	cmd := &cobra.Command{
		Use:   "stop JOB...",
		Short: "Stop jobs, and forget them with -purge",
		Long: `Stops every instance of the jobs and waits until none runs any more. A stopped
job is still known: "job run", "job revert" and "job history" work, until it is
collected some hours later. With -purge it is forgotten at once.

When an id is only the beginning of a job's id, it asks before it stops the
job; -yes answers.`,
		Example: "reeve job stop web\nreeve job stop -purge web",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("say which JOB to stop")
			}
			return nil
		},
		ValidArgsFunction: c.completeIDs(api.SearchJobs),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			var errs []error
			for _, arg := range args {
				errs = append(errs, c.stopJob(cmd.Context(), cl, arg, options, yes, detach, wide))
			}
			return errors.Join(errs...)
		},
	}
	addFollowFlags(cmd, &detach, &wide)
	f := cmd.Flags()
	f.BoolVar(&options.Purge, "purge", false, "forget the job and its versions")
	f.BoolVar(&options.NoShutdownDelay, "no-shutdown-delay", false, "do not wait the groups' and tasks' shutdown delays")
	f.IntVar(&options.EvalPriority, "eval-priority", 0, "priority `N` of the evaluation, 1 to 100, instead of the job's")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func (c *cli) stopJob(ctx context.Context, cl *client.Client, arg string, o client.DeregisterOptions, yes, detach, wide bool) error {
	id, cl, err := c.resolveJob(ctx, cl, arg)
	if err != nil {
		return err
	}
	if id != arg && !yes {
		if err := c.confirm(fmt.Sprintf("Stop job %q?", id)); err != nil {
			return err
		}
	}
	resp, err := cl.Jobs().Deregister(ctx, id, o)
	if err != nil {
		return err
	}
	done := fmt.Sprintf("Job %q is told to stop", id)
	m := c.monitor(cl, id, wide)
	if detach || resp.EvalID == "" {
		return c.follow(ctx, cl, id, done, resp.EvalID, true, wide)
	}
	fmt.Fprintf(c.Stderr, "%s; evaluation %s\n", done, m.id(resp.EvalID))
	return m.stopped(ctx, resp.EvalID, o.Purge)
}

// confirm asks a question that needs "y" on a terminal.
func (c *cli) confirm(question string) error {
	if !term.IsTerminal(c.Stdin) {
		return usagef("%s Give the whole id, or -yes", question)
	}
	fmt.Fprintf(c.Stderr, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(c.Stdin).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return errors.New("nothing was done")
	}
	return nil
}
