// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// A teller reports the troubles of a job while a command follows it: each trouble once,
// until it changes.
type teller struct {
	job   string
	style term.Style
	now   func() time.Time
	out   *term.Live
	said  func(context.Context, *api.Trouble) []string // last output of the task

	told     map[string]bool
	troubles []*api.Trouble       // current list
	since    map[string]time.Time // first report of each current trouble
}

func (c *cli) teller(cl *client.Client, job string, out *term.Live) *teller {
	return &teller{
		job: job, style: c.stderrStyle(), now: c.Now, out: out, told: map[string]bool{},
		said: func(ctx context.Context, t *api.Trouble) []string { return lastSaid(ctx, cl, t) },
	}
}

// take records the current troubles.
func (t *teller) take(list []*api.Trouble) {
	since := make(map[string]time.Time, len(list))
	for _, trouble := range list {
		key := view.TroubleKey(trouble)
		first, known := t.since[key]
		if !known {
			first = t.now()
		}
		since[key] = first
	}
	t.troubles, t.since = list, since
}

// tell reports new troubles. A failed check counts only after view.CheckPatience.
func (t *teller) tell(ctx context.Context) {
	for _, trouble := range t.troubles {
		key := view.TroubleKey(trouble)
		if !t.told[key] && (!view.IsOfCheck(trouble) || t.now().Sub(t.since[key]) >= view.CheckPatience) {
			t.tellOne(ctx, trouble)
		}
	}
}

// tellOne reports a trouble, the task's last output, and the next commands.
func (t *teller) tellOne(ctx context.Context, trouble *api.Trouble) {
	t.told[view.TroubleKey(trouble)] = true
	t.out.Say("  %s", t.style.Red("Trouble: ")+term.Wrap(view.TroubleInWords(trouble, t.now()), 4, t.out.Width()))
	for _, line := range t.said(ctx, trouble) {
		t.out.Say("    %s", t.style.Dim("| "+line))
	}
	for _, next := range view.TroubleNext(t.job, trouble) {
		t.out.Say("    %s", next)
	}
}

// sumUp lists the troubles at the end, and reports whether any exist.
func (t *teller) sumUp(ctx context.Context, list []*api.Trouble) bool {
	if len(list) == 0 {
		list = t.troubles
	}
	if len(list) == 0 {
		return false
	}
	if len(t.told) == 0 {
		for _, trouble := range list {
			t.tellOne(ctx, trouble)
		}
		return true
	}
	p := &term.Page{Style: t.style, Now: t.now(), Width: t.out.Width()}
	view.Troubles(p, t.job, view.WithoutSlowStarts(list, p.Now))
	t.out.Say("\n%s", strings.TrimRight(p.String(), "\n"))
	return true
}

// saidLines is the number of the task's last lines that are shown with a trouble, and
// tailTimeout limits the time to read them.
const (
	saidLines   = 6
	tailTimeout = 3 * time.Second
)

// lastSaid returns the last lines of output of the task of a trouble; none if they are
// not available soon.
func lastSaid(ctx context.Context, cl *client.Client, t *api.Trouble) []string {
	if t.Log == "" || t.Task == "" || t.Allocation == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, tailTimeout)
	defer cancel()
	lines, err := cl.FS().Tail(ctx, t.Allocation, t.Task, t.Log, saidLines)
	if err != nil {
		return nil
	}
	return lines
}

// watchTroubles sends the troubles of a job, now and after each change, until ctx ends
// or the query fails.
func watchTroubles(ctx context.Context, cl *client.Client, job string, q *client.QueryOptions, send func([]*api.Trouble)) {
	for {
		list, meta, err := cl.Jobs().Troubles(ctx, job, q)
		if err != nil {
			return
		}
		send(list)
		q.Index = meta.Index
	}
}

// follow reports troubles until ctx ends.
func (t *teller) follow(ctx context.Context, cl *client.Client) {
	lists := make(chan []*api.Trouble)
	go watchTroubles(ctx, cl, t.job, &client.QueryOptions{}, func(list []*api.Trouble) {
		select {
		case lists <- list:
		case <-ctx.Done():
		}
	})
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case list := <-lists:
			t.take(list)
		case <-tick.C:
		}
		t.tell(ctx)
	}
}
