// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// restartAnswer is one response about a restart.
type restartAnswer struct {
	restart *api.JobRestart
	err     error
}

// exitPaused is the exit code after a restart was paused, which an operator must resume.
const exitPaused = 2

// followRestart follows a restart until it ends or is paused, as the tree of its plan.
// It fails unless the restart completes.
func (c *cli) followRestart(ctx context.Context, cl *client.Client, r *api.JobRestart, f format) error {
	if r.Status == api.RestartRunning {
		ended, err := c.untilRestarted(ctx, cl, r)
		if ctx.Err() != nil {
			if ended != nil {
				r = ended
			}
			fmt.Fprintf(c.Stderr, "The restart continues without this command.\n%s\n", strings.Join(view.RestartNext(r), "\n"))
			return exitWith(exitInterrupted)
		}
		if err != nil {
			return err
		}
		r = ended
	}
	took := r.UpdatedAt.Sub(r.StartedAt).Round(time.Second)
	if err := c.show(f, r, func(p *term.Page) {
		p.Line("Restart %s of job %q is %s after %s: %s.", api.ShortID(r.ID), r.JobID, r.Status, human.Duration(took), restartedInWords(r))
	}); err != nil {
		return err
	}
	switch r.Status {
	case api.RestartPaused:
		return c.reportPause(r)
	case api.RestartComplete:
		return nil
	}
	return fmt.Errorf("restart %s is %s: %s", api.ShortID(r.ID), r.Status, cmp.Or(r.StatusDescription, "no reason given"))
}

// reportPause prints why a restart is paused, and how to resume it.
func (c *cli) reportPause(r *api.JobRestart) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s.\n", cmp.Or(r.StatusDescription, "No reason given"))
	for _, id := range r.UnhealthyAllocs {
		fmt.Fprintf(&out, "Unhealthy after its restart:  reeve alloc status %s\n", api.ShortID(id))
	}
	fmt.Fprintln(&out, strings.Join(view.RestartNext(r), "\n"))
	fmt.Fprint(c.Stderr, out.String())
	return exitWith(exitPaused)
}

// untilRestarted shows the plan of a restart until the restart ends or is paused, and
// returns its last state.
func (c *cli) untilRestarted(ctx context.Context, cl *client.Client, r *api.JobRestart) (*api.JobRestart, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := c.planWatch(cl, r.JobID, api.PlanRestart)
	w.out, w.style = c.Stderr, c.stderrStyle()
	w.screen = term.ScreenOf(c.Stderr, c.Getenv("TERM"))
	w.started = r.StartedAt
	defer w.leave()
	plans, restarts := make(chan planAnswer), make(chan restartAnswer)
	go w.answers(ctx, plans)
	go watchRestart(ctx, w.cl, r.ID, restarts)
	tick := time.NewTicker(redrawTree)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return r, ctx.Err()
		case <-tick.C:
			w.redraw()
		case a := <-plans:
			if a.err == nil && a.plan.Run == r.ID {
				w.show(a.plan)
			}
		case a := <-restarts:
			if a.err == nil && a.restart.ModifyIndex < r.ModifyIndex {
				continue // the server has not applied the start of the restart yet
			}
			if a.err != nil || a.restart.Status != api.RestartRunning {
				if pl, _, err := w.cl.Plans().Get(ctx, r.JobID, api.PlanRestart, nil); err == nil && pl.Run == r.ID {
					w.show(pl)
				}
				return a.restart, a.err
			}
			r = a.restart
		}
	}
}

// watchRestart repeats a blocking query and sends every response, until ctx ends or the
// query fails.
func watchRestart(ctx context.Context, cl *client.Client, id string, out chan<- restartAnswer) {
	q := &client.QueryOptions{}
	for {
		r, meta, err := cl.Restarts().Get(ctx, id, q)
		select {
		case out <- restartAnswer{r, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
		q.Index = meta.Index
	}
}
