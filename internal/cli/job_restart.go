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
1    refused, or the restart failed or was cancelled
2    the restart is paused, by itself or by somebody; it can be resumed
130  ended by Ctrl-C; the restart goes on`

// restartFlags are what "job restart" was told.
type restartFlags struct {
	req                           api.JobRestartRequest
	attach, pause, resume, cancel string // ids
	detach, yes                   bool
}

func jobRestartCommand(c *cli) *command {
	var set restartFlags
	return &command{
		use:   "restart JOB",
		short: "Restart a job's tasks where they are, a few at a time",
		long: `Restarts the tasks of a job's allocations in place: on the same node, in the
same directory, with the same version. The servers do it, batch by batch, and
remember which allocations they told to restart: it goes on when this command
ends, or when another server leads, and no allocation is restarted twice.

A batch is complete when its tasks run again; with -health-gate, when its
allocations are healthy. It is refused while a deployment or another restart
goes on, and a new deployment cancels it.

The command follows the restart until it ends or is paused, which it is by
itself when too much comes back badly (-on-error pause). Ctrl-C ends only the
command.`,
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
	f.IntVar(&r.req.BatchSize, "batch-size", 1, "restart `N` allocations at once")
	f.DurationVar(&r.req.BatchWait, "batch-wait", 0, "wait `D` between a batch's completion and the next one")
	f.StringSliceVar(&r.req.Groups, "group", nil, "only allocations of group `NAME`; several times")
	f.StringSliceVar(&r.req.Tasks, "task", nil, "only tasks called `NAME`; several times")
	f.BoolVar(&r.req.HealthGate, "health-gate", false, "a batch is complete when its allocations are healthy")
	f.IntVar(&r.req.MaxUnhealthy, "max-unhealthy", 0, "up to `N` allocations may come back badly")
	f.StringVar(&r.req.OnError, "on-error", "", "when more come back badly: `WHAT` to do: pause (the default), fail or continue")
	f.StringVar(&r.req.Reason, "reason", "", "why, kept with the restart as `TEXT`")
	f.BoolVar(&r.detach, "detach", false, "return as soon as the restart has begun")
	f.StringVar(&r.attach, "attach", "", "only follow the restart `ID`")
	f.StringVar(&r.pause, "pause", "", "begin no further batch of the restart `ID`")
	f.StringVar(&r.resume, "resume", "", "let the paused restart `ID` go on, and follow it")
	f.StringVar(&r.cancel, "cancel", "", "end the restart `ID`; it cannot be resumed")
	f.BoolVarP(&r.yes, "yes", "y", false, "do not ask")
}

// startOnly are the flags that only make sense where a restart begins.
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
		return usagef("-attach, -pause, -resume and -cancel take the id of a restart: leave out %q", args[0])
	case chosen == 0 && len(args) == 0:
		return usagef("say which JOB to restart, or -attach, -pause, -resume or -cancel with the id of a restart")
	case r.attach != "" && r.detach:
		return usagef("choose one of -attach and -detach")
	case r.req.BatchSize < 1:
		return usagef("-batch-size is 1 or more, not %d", r.req.BatchSize)
	case r.req.BatchWait < 0:
		return usagef("-batch-wait is 0 or more, not %s", r.req.BatchWait)
	case r.req.MaxUnhealthy < 0:
		return usagef("-max-unhealthy is 0 or more, not %d", r.req.MaxUnhealthy)
	}
	switch r.req.OnError {
	case "", api.RestartOnErrorFail, api.RestartOnErrorPause, api.RestartOnErrorContinue:
	default:
		return usagef("-on-error %q: it is one of %s, %s, %s", r.req.OnError,
			api.RestartOnErrorPause, api.RestartOnErrorFail, api.RestartOnErrorContinue)
	}
	for _, name := range startOnly {
		if chosen == 1 && flags.Changed(name) {
			return usagef("-%s goes with starting a restart, not with an earlier one", name)
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
			p.Line("Restart %s of job %q has begun: %s.", api.ShortID(r.ID), r.JobID, restartTerms(r))
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
		done = "goes on"
		r, err = cl.Restarts().Resume(ctx, r.JobID, r.ID, req)
	}
	switch {
	case err != nil:
		return err
	case flags.resume != "" && !flags.detach:
		fmt.Fprintf(c.Stderr, "Restart %s of job %q goes on.\n", api.ShortID(r.ID), r.JobID)
		return c.followRestart(ctx, cl, r, f)
	}
	return c.show(f, r, func(p *term.Page) {
		p.Line("Restart %s of job %q %s: %s.", api.ShortID(r.ID), r.JobID, done, restartedInWords(r))
		p.Next(view.RestartNext(r)...)
	})
}

// restartTerms is how a restart goes about it: "2 at a time, 30s between".
func restartTerms(r *api.JobRestart) string {
	parts := []string{fmt.Sprintf("%d at a time", r.BatchSize)}
	if r.BatchWait > 0 {
		parts = append(parts, fmt.Sprintf("%s between", r.BatchWait))
	}
	if r.HealthGate {
		parts = append(parts, "each batch until it is healthy")
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
		text += fmt.Sprintf(", %d of them badly", n)
	}
	return text
}
