// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// restless is a controller with one key that never reaches its goal.
type restless struct {
	act     func(now time.Time) ([]state.Command, time.Time)
	actions int
}

func (*restless) Name() string                              { return "restless" }
func (*restless) All(*state.Snapshot) []string              { return []string{"key"} }
func (*restless) Touched(_ *state.Change, add func(string)) { add("key") }
func (r *restless) Act(_ *state.Snapshot, _ string, now time.Time) ([]state.Command, time.Time) {
	r.actions++
	return r.act(now)
}

// actionsIn returns how often the runner calls Act in a time. Without a pace, it would never let the virtual time
// pass: the test ends at a limit instead.
func actionsIn(t *testing.T, c *restless, d time.Duration) int {
	const limit = 100_000
	bubble.Test(t, func(t *testing.T) {
		store := state.New()
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		act := c.act
		c.act = func(now time.Time) ([]state.Command, time.Time) {
			if c.actions >= limit {
				cancel()
				return nil, time.Time{}
			}
			return act(now)
		}
		control.Run(ctx, control.Env{
			Store: store, Logger: slog.New(slog.DiscardHandler),
			Propose: func(_ context.Context, cmds ...state.Command) ([]error, error) {
				return store.Apply(store.Index()+1, cmds), nil
			},
		}, c)
		synctest.Wait()
	})
	return c.actions
}

// A burst of 256 is not delayed; then an action may follow each 50 ms.
const (
	burst     = 256
	perSecond = 20
)

func TestARestlessControllerIsBraked(t *testing.T) {
	same := func(time.Time) ([]state.Command, time.Time) {
		return []state.Command{state.PutNamespace(&api.Namespace{Name: "same"}, nil)}, time.Time{}
	}
	for what, act := range map[string]func(time.Time) ([]state.Command, time.Time){
		"it writes the same object again": same,
		"it wants to act at once":         func(now time.Time) ([]state.Command, time.Time) { return nil, now },
		"it wants to have acted before":   func(now time.Time) ([]state.Command, time.Time) { return nil, now.Add(-time.Hour) },
		"it writes, and wants to act at once": func(now time.Time) ([]state.Command, time.Time) {
			cmds, _ := same(now)
			return cmds, now
		},
	} {
		n := actionsIn(t, &restless{act: act}, 10*time.Second)
		if most := burst + 10*perSecond + 1; n < burst || n > most {
			t.Errorf("%s: %d actions in 10 seconds, want between %d and %d", what, n, burst, most)
		}
	}
}

func TestABurstOfActionsIsNotDelayed(t *testing.T) {
	began, goal := time.Time{}, 200
	var took time.Duration
	c := &restless{}
	c.act = func(now time.Time) ([]state.Command, time.Time) {
		if began.IsZero() {
			began = now
		}
		if took = now.Sub(began); c.actions > goal {
			return nil, time.Time{}
		}
		return []state.Command{state.PutNamespace(&api.Namespace{Name: "goal", Description: time.Duration(c.actions).String()}, nil)}, time.Time{}
	}
	if n := actionsIn(t, c, 10*time.Second); n != goal+1 || took != 0 {
		t.Errorf("%d actions in %s, want %d immediately", n, took, goal+1)
	}
}
