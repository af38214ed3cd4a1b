// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package autopilot

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Env is what Run works on.
type Env struct {
	Logger  *slog.Logger
	Config  func() *api.AutopilotConfig
	Servers func() []Server                                // without health
	Trouble func() string                                  // see View
	Act     func(ctx context.Context, action Action) error // performs an action
}

// interval is the time between two assessments.
const interval = 250 * time.Millisecond

// retry is the time before a failed action is tried again.
const retry = 5 * time.Second

// Autopilot assesses the servers of one leadership.
type Autopilot struct {
	env Env

	mu      sync.Mutex
	servers []Server
}

// New returns an autopilot that knows no server yet.
func New(env Env) *Autopilot { return &Autopilot{env: env} }

// Servers returns the newest assessment; nil before the first one.
func (a *Autopilot) Servers() []Server {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.servers
}

// Run assesses the servers and acts until ctx ends.
func (a *Autopilot) Run(ctx context.Context) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var paused time.Time // until then, because an action failed
	for {
		now := time.Now()
		view := a.assess(now)
		if actions := Decide(view); len(actions) > 0 && now.After(paused) {
			action := actions[0]
			err := a.env.Act(ctx, action)
			switch {
			case err == nil:
				a.env.Logger.Info("autopilot acted", "verb", action.Verb, "server", action.ID, "reason", action.Reason)
			case ctx.Err() == nil:
				a.env.Logger.Warn("autopilot cannot act", "verb", action.Verb, "server", action.ID, "reason", action.Reason, "error", err, "next_attempt", retry)
				paused = now.Add(retry)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (a *Autopilot) assess(now time.Time) View {
	config := a.env.Config()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.servers = Assess(a.servers, a.env.Servers(), config, now)
	return View{Now: now, Config: config, Servers: a.servers, Trouble: a.env.Trouble()}
}
