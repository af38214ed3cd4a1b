// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

const jobRestartExitCodes = `0    the restart is complete (-detach: started; -pause, -resume, -cancel: done)
1    rejected, or the restart failed or was cancelled
2    the restart is paused, by -on-error or an operator; resume it to continue
130  ended by Ctrl-C; the restart continues`

// restartFlags holds the flags of "job restart".
type restartFlags struct {
	req                           api.JobRestartRequest
	attach, pause, resume, cancel string // ids
	detach, yes                   bool
}

func jobRestartCommand(c *cli) *command {
	var set restartFlags
	return &command{
		use:   "restart JOB",
		short: "Restart the tasks of a job in place, in batches",
		long: `Restart the tasks of a job's allocations in place: on the same node, in the same
directory, with the same version. The servers restart batch after batch and
record their progress: the restart continues after this command ends or the
leader changes, and restarts no allocation twice.

A batch is complete when its tasks run again; with -health-gate, when its
allocations are healthy. The server rejects a restart during a deployment or
another restart. A new deployment cancels it.

The command follows the restart until it ends or is paused. The servers pause it
if too many allocations are unhealthy afterwards (-on-error pause). Ctrl-C ends
only the command.`,
		example: `reeve job restart web
reeve job restart -batch-size 5 -batch-wait 30s -health-gate -max-unhealthy 2 web
reeve job restart -pause 1a2b3c4d -reason 'load is high'
reeve job restart -resume 1a2b3c4d`,
		exitCodes: jobRestartExitCodes,
		format:    true,
		flags:     set.addTo,
		ownArgs:   true, // -attach and others take the place of JOB
		check:     func(r *call) error { return set.check(r.flags, r.args) },
		run: func(r *call) error {
			if set.attach+set.pause+set.resume+set.cancel != "" {
				return c.changeRestart(r.ctx, r.cl, &set, r.format)
			}
			return c.startRestart(r.ctx, r.cl, r.args[0], &set, r.format)
		},
	}
}

func (r *restartFlags) addTo(f *pflag.FlagSet) {
	f.IntVar(&r.req.BatchSize, "batch-size", 1, "restart `N` allocations at the same time")
	f.DurationVar(&r.req.BatchWait, "batch-wait", 0, "wait `D` between batches")
	f.StringSliceVar(&r.req.Groups, "group", nil, "restart only allocations of group `NAME`; repeatable")
	f.StringSliceVar(&r.req.Tasks, "task", nil, "restart only the task `NAME`; repeatable")
	f.BoolVar(&r.req.HealthGate, "health-gate", false, "complete a batch only when its allocations are healthy")
	f.IntVar(&r.req.MaxUnhealthy, "max-unhealthy", 0, "tolerate `N` allocations that are unhealthy after their restart")
	f.StringVar(&r.req.OnError, "on-error", "", "do `ACTION` after more unhealthy allocations: pause (the default), fail or continue")
	f.StringVar(&r.req.Reason, "reason", "", "record `TEXT` as the reason of the restart")
	f.BoolVar(&r.detach, "detach", false, "return after the restart has started")
	f.StringVar(&r.attach, "attach", "", "follow the restart `ID`")
	f.StringVar(&r.pause, "pause", "", "pause the restart `ID` after its current batch")
	f.StringVar(&r.resume, "resume", "", "resume the paused restart `ID`, and follow it")
	f.StringVar(&r.cancel, "cancel", "", "cancel the restart `ID` permanently")
	f.BoolVarP(&r.yes, "yes", "y", false, "do not ask for confirmation")
}

// startOnly lists the flags that apply only to a new restart.
var startOnly = []string{"batch-size", "batch-wait", "group", "task", "health-gate", "max-unhealthy", "on-error"}

func (r *restartFlags) check(flags *pflag.FlagSet, args []string) error {
	chosen := 0
	for _, id := range []string{r.attach, r.pause, r.resume, r.cancel} {
		if id != "" {
			chosen++
		}
	}
	switch {
	case chosen > 1:
		return usagef("choose one of -attach, -pause, -resume and -cancel")
	case chosen == 1 && len(args) > 0:
		return usagef("-attach, -pause, -resume and -cancel take the id of a restart: omit %q", args[0])
	case chosen == 0 && len(args) == 0:
		return usagef("missing argument JOB; or set -attach, -pause, -resume or -cancel to the id of a restart")
	case r.attach != "" && r.detach:
		return usagef("choose one of -attach and -detach")
	case r.req.BatchSize < 1:
		return usagef("-batch-size %d is not 1 or more", r.req.BatchSize)
	case r.req.BatchWait < 0:
		return usagef("-batch-wait %s is not 0 or more", r.req.BatchWait)
	case r.req.MaxUnhealthy < 0:
		return usagef("-max-unhealthy %d is not 0 or more", r.req.MaxUnhealthy)
	}
	switch r.req.OnError {
	case "", api.RestartOnErrorFail, api.RestartOnErrorPause, api.RestartOnErrorContinue:
	default:
		return usagef("-on-error %q is not %s, %s or %s", r.req.OnError,
			api.RestartOnErrorPause, api.RestartOnErrorFail, api.RestartOnErrorContinue)
	}
	for _, name := range startOnly {
		if chosen == 1 && flags.Changed(name) {
			return usagef("-%s applies only to a new restart", name)
		}
	}
	return nil
}

func (c *cli) startRestart(ctx context.Context, cl *client.Client, arg string, flags *restartFlags, f format) error {
	id, cl, err := c.resolveJob(ctx, cl, arg)
	if err != nil {
		return err
	}
	if id != arg && !flags.yes {
		if err := c.confirm(fmt.Sprintf("Restart job %q?", id)); err != nil {
			return err
		}
	}
	flags.req.By = c.operator()
	r, err := cl.Restarts().Start(ctx, id, &flags.req)
	if err != nil {
		return err
	}
	if flags.detach {
		return c.show(f, r, func(p *term.Page) {
			p.Line("Started restart %s of job %q: %s.", api.ShortID(r.ID), r.JobID, restartTerms(r))
			p.Next(view.RestartNext(r)...)
		})
	}
	fmt.Fprintf(c.Stderr, "Restart %s of job %q: %s\n", api.ShortID(r.ID), r.JobID, restartTerms(r))
	return c.followRestart(ctx, cl, r, f)
}

// changeRestart attaches to, pauses, resumes or cancels an earlier restart.
func (c *cli) changeRestart(ctx context.Context, cl *client.Client, flags *restartFlags, f format) error {
	r, _, err := cl.Restarts().Get(ctx, flags.attach+flags.pause+flags.resume+flags.cancel, nil)
	if err != nil {
		return err
	}
	cl = cl.WithNamespace(r.Namespace)
	req := &api.JobRestartVerbRequest{By: c.operator(), Reason: flags.req.Reason}
	done := ""
	switch {
	case flags.attach != "":
		return c.followRestart(ctx, cl, r, f)
	case flags.pause != "":
		done = "is paused"
		r, err = cl.Restarts().Pause(ctx, r.JobID, r.ID, req)
	case flags.cancel != "":
		done = "is cancelled"
		r, err = cl.Restarts().Cancel(ctx, r.JobID, r.ID, req)
	default:
		done = "continues"
		r, err = cl.Restarts().Resume(ctx, r.JobID, r.ID, req)
	}
	switch {
	case err != nil:
		return err
	case flags.resume != "" && !flags.detach:
		fmt.Fprintf(c.Stderr, "Restart %s of job %q continues.\n", api.ShortID(r.ID), r.JobID)
		return c.followRestart(ctx, cl, r, f)
	}
	return c.show(f, r, func(p *term.Page) {
		p.Line("Restart %s of job %q %s: %s.", api.ShortID(r.ID), r.JobID, done, restartedInWords(r))
		p.Next(view.RestartNext(r)...)
	})
}

// restartTerms describes the options of a restart: "2 at a time, 30s between batches".
func restartTerms(r *api.JobRestart) string {
	parts := []string{fmt.Sprintf("%d at a time", r.BatchSize)}
	if r.BatchWait > 0 {
		parts = append(parts, fmt.Sprintf("%s between batches", r.BatchWait))
	}
	if r.HealthGate {
		parts = append(parts, "batches wait for health")
	}
	if r.Templates {
		parts = append(parts, "only instances whose templates changed")
	}
	if len(r.Groups) > 0 {
		parts = append(parts, "only group "+strings.Join(r.Groups, ", "))
	}
	if len(r.Tasks) > 0 {
		parts = append(parts, "only task "+strings.Join(r.Tasks, ", "))
	}
	return strings.Join(parts, ", ")
}

func restartedInWords(r *api.JobRestart) string {
	text := human.Count(len(r.RestartedAllocs), "allocation", "allocations") + " restarted"
	if n := len(r.UnhealthyAllocs); n > 0 {
		text += fmt.Sprintf(", %d of them unhealthy", n)
	}
	return text
}
