// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

const (
	looking = 50 * time.Millisecond  // interval at which the run checks itself
	telling = 2 * time.Second        // interval of progress reports
	asking  = 500 * time.Millisecond // interval at which it asks the server whether it is settled
	quiet   = 300 * time.Millisecond // required time without a new allocation
)

// watch waits until all work is done or the time limit is reached. done receives the results
// of the submission and of the events.
func (r *run) watch(ctx context.Context, done <-chan error) error {
	ticker := time.NewTicker(looking)
	defer ticker.Stop()
	acted := false
	var told, asked time.Time
	var seen, messages int64
	changed := time.Now()
	for {
		select {
		case err := <-done:
			if err != nil {
				return err
			}
			acted, done = true, nil
		case <-ticker.C:
		case <-ctx.Done():
			r.report.Limit = true
			return nil
		}
		now := time.Now()
		r.sample()
		if now.Sub(told) >= telling {
			told = now
			r.progress(now)
		}
		if sum := r.placed.Load() + r.running.Load() + r.reports.Load(); sum != seen || r.messages.Load() != messages {
			seen, messages, changed = sum, r.messages.Load(), now
		}
		if !acted || r.busy.Load() > 0 || now.Sub(changed) < quiet && !r.options.Detached || now.Sub(asked) < asking {
			continue
		}
		asked = now
		settled, err := r.isSettled(ctx)
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("ask the server how far it is: %w", err)
		}
		if settled {
			r.progress(now)
			return nil
		}
	}
}

// rest measures the cost of the idle fleet. The processor time is known only for the run's own
// server.
func (r *run) rest(ctx context.Context) error {
	if r.scenario.QuietFor <= 0 {
		return nil
	}
	cpuTime := func() time.Duration {
		if r.server == nil {
			return 0
		}
		return r.server.cpuTime()
	}
	began, used, sent := time.Now(), cpuTime(), r.heartbeats.Load()
	select {
	case <-time.After(r.scenario.QuietFor):
	case <-ctx.Done():
		return ctx.Err()
	}
	r.quietReport = QuietReport{Took: time.Since(began), CPUTime: cpuTime() - used, Heartbeats: r.heartbeats.Load() - sent}
	r.tell("quiet for %s: %s heartbeats", short(r.quietReport.Took), grouped(r.quietReport.Heartbeats))
	return nil
}

// isSettled reports whether the server has finished its work: no evaluation is pending, no
// node is draining, and it knows which nodes are live.
func (r *run) isSettled(ctx context.Context) (bool, error) {
	pending, _, err := r.client.Evaluations().Count(ctx, &client.QueryOptions{Params: url.Values{"status": {api.EvalStatusPending}}})
	if err != nil || pending > 0 {
		return false, err
	}
	if len(r.scenario.Events) == 0 {
		return true, nil
	}
	list, _, err := r.client.Nodes().List(ctx, nil)
	if err != nil {
		return false, err
	}
	for _, stub := range list {
		if live, ours := r.live(stub.ID); ours && (stub.Drain || live != (stub.Status == api.NodeStatusReady)) {
			return false, nil
		}
	}
	return true, nil
}

// sample records how full the fleet is.
func (r *run) sample() {
	for d := range r.peak {
		r.peak[d] = max(r.peak[d], r.used[d].Load())
	}
	if r.server != nil && r.placedMemory == 0 && r.placed.Load() > 0 && r.placed.Load() >= r.wanted() {
		r.placedMemory, _ = r.server.memory()
	}
}

func (r *run) progress(now time.Time) {
	words := fmt.Sprintf("%6s  %s of %s placed, %s running", short(now.Sub(r.began)), grouped(r.placed.Load()), grouped(r.wanted()), grouped(r.running.Load()))
	if r.server != nil {
		memory, _ := r.server.memory()
		words += fmt.Sprintf("; server %d MB, %s of processor time", memory>>20, short(r.server.cpuTime()))
	}
	r.tell("%s", words)
}

// short formats a duration for people.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// grouped formats a number with grouped thousands.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
