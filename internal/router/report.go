// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

const (
	// reportInterval is the time between two reports to the servers.
	reportInterval = 2 * time.Second
	// maxReported bounds the stacks, and the calls, of one report. The next report has the others.
	maxReported = 5000
	// reportTimeout bounds the time of one report.
	reportTimeout = 10 * time.Second
	// stackKept is how long the router keeps the counters of a stack without instances,
	// to which requests may still be in flight.
	stackKept = 10 * time.Minute
)

// A reporter reports the requests to stacks. It sends a report again until the servers accept
// it, and then everything that it counted in the meantime.
type reporter struct {
	router  *Router
	id      string
	last    uint64             // sequence of the last report
	term    string             // of the leader that knows all calls
	pending *api.TrafficReport // not accepted yet
}

// report reports until ctx ends.
func (r *Router) report(ctx context.Context) {
	if r.config.Report == nil {
		return
	}
	p := &reporter{router: r, id: api.NewID()}
	tick := time.NewTicker(reportInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p.send(ctx, time.Now())
		}
	}
}

// send sends one report if there is something to report.
func (p *reporter) send(ctx context.Context, now time.Time) {
	if p.pending == nil {
		p.pending = p.collect(false, now)
	}
	if p.pending == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	term, err := p.router.config.Report(ctx, p.pending)
	switch {
	case err == nil:
	case api.CodeOf(err) == api.CodeInvalid: // the servers will not accept it later either
		p.router.config.Logger.Warn("servers refuse the figures of stacks", "error", err)
	default:
		return
	}
	p.pending = nil
	if term != "" && term != p.term {
		p.pending = p.collect(p.term != "", now) // a new leader knows no calls
		p.term = term
	}
}

// collect returns a report, nil if there is nothing to report. With all, it has the calls that
// were reported already.
func (p *reporter) collect(all bool, now time.Time) *api.TrafficReport {
	out := &api.TrafficReport{Router: p.id, Sequence: p.last + 1}
	for _, s := range p.router.reportedStacks(now) {
		if len(out.Stacks) < maxReported {
			n := s.now()
			if t := n.since(s, &s.reported); t != nil {
				out.Stacks, s.reported = append(out.Stacks, t), n
			}
		}
		if len(out.Calls) < maxReported {
			out.Calls = s.calls.take(s, out.Calls, all, ticks(now))
		}
	}
	if len(out.Stacks)+len(out.Calls) == 0 {
		return nil
	}
	p.last++
	return out
}

// reportedStacks returns the counters of all stacks in order, and forgets those that lost their last
// instance long ago.
func (r *Router) reportedStacks(now time.Time) (all []*stackCounters) {
	r.applying.Lock()
	defer r.applying.Unlock()
	for key, s := range r.applier.stacks {
		if s.instances == 0 && now.Sub(s.emptied) > stackKept {
			delete(r.applier.stacks, key)
			continue
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *stackCounters) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.stack, b.stack))
	})
	return all
}
