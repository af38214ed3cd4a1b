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

// A teller says what is wrong with a job while somebody watches it: each trouble
// once, until it changes.
type teller struct {
	job   string
	style term.Style
	now   func() time.Time
	out   *term.Live
	said  func(context.Context, *api.Trouble) []string // by its task, at last

	told     map[string]bool
	troubles []*api.Trouble       // as they were last
	since    map[string]time.Time // when each was seen first, as long as it lasts
}

func (c *cli) teller(cl *client.Client, job string, out *term.Live) *teller {
	return &teller{
		job: job, style: c.stderrStyle(), now: c.Now, out: out, told: map[string]bool{},
		said: func(ctx context.Context, t *api.Trouble) []string { return lastSaid(ctx, cl, t) },
	}
}

// take takes in what is wrong now.
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

// tell says what is new and not just a slow start.
func (t *teller) tell(ctx context.Context) {
	for _, trouble := range t.troubles {
		key := view.TroubleKey(trouble)
		if !t.told[key] && (!view.IsOfCheck(trouble) || t.now().Sub(t.since[key]) >= view.CheckPatience) {
			t.tellOne(ctx, trouble)
		}
	}
}

// tellOne says what is wrong, what the task said last, and what to type.
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

// sumUp says at the end what was wrong; it reports whether anything was.
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

// saidLines is how many of a task's last lines are shown with its trouble, and
// tailTimeout how long reading them may take.
const (
	saidLines   = 6
	tailTimeout = 3 * time.Second
)

// lastSaid are the last lines that the task of a trouble wrote; none when they
// cannot be had soon.
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

// watchTroubles sends what is wrong with a job, now and whenever it changes, until
// ctx ends. It gives up when it cannot be had.
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

// follow says what is wrong until ctx ends.
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
