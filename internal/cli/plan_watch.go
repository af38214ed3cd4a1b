// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/plantree"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// errNotInTime reports that a plan was not complete in time.
var errNotInTime = errors.New("not in time")

// A planWatch follows one plan with blocking queries.
type planWatch struct {
	c       *cli
	cl      *client.Client // in the job's namespace; survives outages
	job     string
	plan    string
	listed  bool // reports whether a list of plans contained it
	out     io.Writer
	style   term.Style
	screen  *term.Screen // nil without a terminal
	log     plantree.Log
	started time.Time
	turn    int
	first   *api.Plan              // last response about the initial version
	last    *api.Plan              // last response, or nil
	notice  atomic.Pointer[string] // on the screen, about a lost server
}

// planAnswer is one response about a plan.
type planAnswer struct {
	plan *api.Plan
	err  error
}

// watchPlan follows a plan until it ends; without a name, the first active plan of the
// job.
func (c *cli) watchPlan(ctx context.Context, cl *client.Client, job, name string, timeout time.Duration) error {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, errNotInTime)
		defer cancel()
	}
	if name == "" {
		list, _, err := cl.Plans().OfJob(ctx, job, nil)
		if err != nil {
			return err
		}
		if isOnItsWay(list) {
			return c.watchLife(ctx, cl, job)
		}
		name = firstUnderWay(list)
		w := c.planWatch(cl, job, name)
		w.listed = slices.ContainsFunc(list, func(pl *api.Plan) bool { return pl.Name == name })
		return w.run(ctx)
	}
	return c.planWatch(cl, job, name).run(ctx)
}

// planWatch returns a planWatch that writes to stdout.
func (c *cli) planWatch(cl *client.Client, job, name string) *planWatch {
	w := &planWatch{
		c: c, job: job, plan: name, started: c.Now(),
		out: c.Stdout, style: c.stdoutStyle(), screen: term.ScreenOf(c.Stdout, c.Getenv("TERM")),
	}
	w.cl = c.patient(cl, w.say)
	return w
}

// say reports the state of the connection: below the tree, or on stderr.
func (w *planWatch) say(format string, args ...any) {
	if w.screen == nil {
		w.c.tell(format, args...)
		return
	}
	text := fmt.Sprintf(format, args...)
	w.notice.Store(&text)
}

// firstUnderWay returns the most interesting plan to follow. The only plan of a removed
// job is uninstall.
func firstUnderWay(list []*api.Plan) string {
	if pl := view.WorthFollowing(list); pl != nil {
		return pl.Name
	}
	if len(list) == 1 && list[0].Name == api.PlanUninstall {
		return api.PlanUninstall
	}
	return api.PlanDeploy
}

// answers repeats the query and sends every response, until ctx ends or the query fails.
func (w *planWatch) answers(ctx context.Context, out chan<- planAnswer) {
	q := &client.QueryOptions{}
	for {
		pl, meta, err := w.cl.Plans().Get(ctx, w.job, w.plan, q)
		select {
		case out <- planAnswer{pl, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
		q.Index = meta.Index
	}
}

// redrawTree is the interval at which the times of a live tree are updated.
const redrawTree = 200 * time.Millisecond

func (w *planWatch) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan planAnswer)
	go w.answers(ctx, answers)
	tick := time.NewTicker(redrawTree)
	defer tick.Stop()
	defer w.leave()
	for {
		select {
		case <-ctx.Done():
			return w.left(ctx)
		case <-tick.C:
			w.redraw()
		case a := <-answers:
			switch {
			case ctx.Err() != nil:
				return w.left(ctx)
			case a.err != nil:
				return w.gone(a.err)
			}
			w.show(a.plan)
			if done, err := w.ended(ctx); done {
				return err
			}
		}
	}
}

// show shows a new response.
func (w *planWatch) show(pl *api.Plan) {
	if w.last = pl; w.first == nil || pl.JobVersion == w.first.JobVersion {
		w.first = pl
	}
	w.notice.Store(nil)
	if w.screen != nil {
		w.redraw()
		return
	}
	w.log.Style = w.style
	for _, line := range w.log.Changes(pl, w.c.Now()) {
		fmt.Fprintln(w.out, line)
	}
}

// redraw draws the last response with the current time.
func (w *planWatch) redraw() {
	if w.screen == nil || w.last == nil {
		return
	}
	width, height := w.screen.Size()
	f := plantree.Frame{Style: w.style, Now: w.c.Now(), Started: w.started, Width: width, Height: height, Turn: w.turn}
	if text := w.notice.Load(); text != nil {
		f.Notice = strings.Split(*text, "\n")
	}
	w.screen.Draw(f.Lines(w.last))
	w.turn++
}

// leave releases the terminal.
func (w *planWatch) leave() {
	if w.screen != nil {
		w.screen.Leave()
	}
}

// ended reports whether the plan has ended, with its error.
func (w *planWatch) ended(ctx context.Context) (bool, error) {
	switch w.last.Status {
	case api.PlanComplete:
		if w.last.Name == api.PlanUninstall {
			w.removed()
		}
		return true, w.replaced(ctx)
	case api.PlanError:
		return true, fmt.Errorf("plan %s of job %q is in error: %s", w.last.Name, w.job,
			cmp.Or(strings.Join(w.last.Errors, "; "), w.last.Message, "no reason given"))
	}
	return false, nil
}

// replaced returns an error if the followed version failed and another version replaced
// it, as with auto_revert.
func (w *planWatch) replaced(ctx context.Context) error {
	if w.first.Name != api.PlanDeploy || w.first.JobVersion == w.last.JobVersion || w.first.Run == "" {
		return nil
	}
	d, _, err := w.cl.Deployments().Get(ctx, w.first.Run, nil)
	if err != nil || d.Status != api.DeploymentFailed {
		return nil // a newer version replaced it, or the deployment was deleted
	}
	why := d.StatusDescription
	for _, t := range d.Troubles {
		why += "\n  " + t.String()
	}
	return fmt.Errorf("version %d of job %q failed, and version %d replaced it: %s", d.JobVersion, w.job, w.last.JobVersion, why)
}

// gone handles the removal of the plan: it completed after the last response or after the list that
// contained it, or it never existed.
func (w *planWatch) gone(err error) error {
	if w.last == nil && !w.listed || api.CodeOf(err) != api.CodeNotFound {
		return err
	}
	name := w.plan
	if w.last != nil {
		name = w.last.Name
	}
	switch name {
	case api.PlanUninstall:
		w.removed()
		return nil
	case api.PlanDecommission, api.PlanRecovery, api.PlanRestart, api.PlanDrain, api.PlanWarming:
		fmt.Fprintf(w.c.Stdout, "Plan %s of job %q is complete.\n", name, w.job)
		return nil
	}
	return err
}

// removed reports the end of an uninstall.
func (w *planWatch) removed() {
	fmt.Fprintf(w.c.Stdout, "Job %q is removed.\n", w.job)
}

// exitNotInTime is the exit code of a wait that timed out.
const exitNotInTime = 2

// exitInterrupted is the exit code of a following command after Ctrl-C.
const exitInterrupted = 130

// left returns the result after a timeout or Ctrl-C.
func (w *planWatch) left(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errNotInTime) {
		status := api.PlanStatus("")
		if w.last != nil {
			status = w.last.Status
		}
		return &exit{code: exitNotInTime, err: fmt.Errorf("plan %s of job %q was not complete in time: its status is %s; the plan continues without this command",
			w.plan, w.job, cmp.Or(string(status), "unknown"))}
	}
	return exitWith(exitInterrupted)
}
