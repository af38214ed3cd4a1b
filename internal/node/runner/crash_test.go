// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/ledger"
)

// A mortal driver kills its agent before or after one of the calls: what is
// durable then is all that the next agent has, and what the old one still wants
// to do has no effect.
type mortal struct {
	driver.Driver
	left int // calls until the agent is killed
	die  func()

	mu   sync.Mutex
	dead bool
}

// at is a point in time at which the agent may be killed. It reports whether it
// lives on.
func (m *mortal) at() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return false
	}
	if m.left--; m.left == 0 {
		m.dead = true
		m.die()
	}
	return !m.dead
}

func (m *mortal) Start(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	if !m.at() {
		return nil, context.Canceled
	}
	h, err := m.Driver.Start(ctx, t)
	if !m.at() {
		return nil, context.Canceled
	}
	return mortalHandle{h, m}, err
}

func (m *mortal) Recover(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	if !m.at() {
		return nil, context.Canceled
	}
	h, err := m.Driver.Recover(ctx, t)
	if err != nil {
		return nil, err
	}
	return mortalHandle{h, m}, nil
}

type mortalHandle struct {
	driver.Handle
	m *mortal
}

func (h mortalHandle) Wait(ctx context.Context) (driver.Exit, error) {
	x, err := h.Handle.Wait(ctx)
	if !h.m.at() {
		return driver.Exit{}, context.Canceled
	}
	return x, err
}

func (h mortalHandle) Stop(ctx context.Context, signal string, timeout time.Duration) error {
	if !h.m.at() {
		return context.Canceled
	}
	err := h.Handle.Stop(ctx, signal, timeout)
	h.m.at()
	return err
}

func (h mortalHandle) Destroy(ctx context.Context) error {
	if !h.m.at() {
		return context.Canceled
	}
	err := h.Handle.Destroy(ctx)
	h.m.at()
	return err
}

// arm has the agent be killed at the nth call of its driver.
func (b *bench) arm(n int) *mortal {
	m := &mortal{Driver: b.driver, left: n}
	durable := map[string][]byte{}
	m.die = func() {
		b.host.Ledger.Each("", func(key string, value []byte) error {
			durable[key] = append([]byte{}, value...)
			return nil
		})
		b.stop()
	}
	b.host.Drivers["fake"] = m
	b.revive = func() {
		b.dir = filepath.Join(b.dir, "again")
		l, err := ledger.Open(filepath.Join(b.dir, "node.db"))
		if err != nil {
			b.Fatal(err)
		}
		for key, value := range durable {
			l.Put(key, value)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
		b.open()
	}
	return m
}

// endure steers a runner, with the agent killed at the nth call of the driver,
// and reports whether it was. Servers send again what they want.
func (b *bench) endure(n int, a *api.Allocation, then func(r *Runner)) (*Runner, bool) {
	b.Helper()
	m := b.arm(n)
	r := New(b.host, a.Copy())
	r.Start()
	synctest.Wait()
	then(r)
	synctest.Wait()
	m.mu.Lock()
	dead := m.dead
	m.left = 0 // it lives on
	m.mu.Unlock()
	if !dead {
		return r, false
	}
	want := r.Allocation()
	b.close()
	b.revive()
	if r = b.restore(a.Job); r == nil {
		r = b.start(want.Copy())
	}
	r.Update(want)
	synctest.Wait()
	return r, true
}

func TestTokenIsRunOnceWheneverTheAgentIsKilled(t *testing.T) {
	for name, c := range map[string]struct {
		before, after map[string]*api.Launch
		end           bool // the task is to end, and has
		want          int  // runs of it at the end
	}{
		"restart of what runs":   {nil, map[string]*api.Launch{"t": {Token: "r1"}}, false, 2},
		"first launch":           {map[string]*api.Launch{"t": {}}, map[string]*api.Launch{"t": {Token: "r1"}}, false, 1},
		"again what has ended":   {nil, map[string]*api.Launch{"t": {Token: "r1"}}, true, 2},
		"what was held":          {map[string]*api.Launch{"t": {Hold: true}}, map[string]*api.Launch{"t": {Token: "r1"}}, false, 1},
		"what is to be replaced": {map[string]*api.Launch{"t": {Token: "r0"}}, map[string]*api.Launch{"t": {Token: "r1"}}, false, 2},
	} {
		killed := true
		n := 1
		for ; killed; n++ {
			inBubble(t, func(b *bench) {
				spec := taskSpec("t", policy(0, "fail"))
				if c.end {
					spec.Goal = api.GoalFinish
				}
				a := launching(allocation("service", spec, taskSpec("other")), "1", c.before)
				var r *Runner
				r, killed = b.endure(n, a, func(r *Runner) {
					if p := b.driver.Process("t"); c.end && p != nil {
						p.Exit(0)
						synctest.Wait()
					}
					r.Update(launching(r.Allocation(), "2", c.after))
				})
				time.Sleep(time.Minute)
				synctest.Wait()
				b.want(fmt.Sprintf("%s, killed at call %d: state", name, n), "running r1", brief(r, "t"))
				runs := 0
				for _, p := range b.driver.Started() {
					if p.Task.Name == "t" {
						runs++
					}
				}
				// Killed before the old run was ever started, it never is.
				if runs != c.want && !(runs == c.want-1 && n <= 4) {
					b.Errorf("%s, killed at call %d: %d runs; want %d", name, n, runs, c.want)
				}
				count := 0
				for _, p := range b.driver.Running() {
					if p == "t" {
						count++
					}
				}
				b.want("processes", 1, count)
				b.want("restarts by policy", false, r.Report().TaskStates["t"].Failed)
			})
		}
		if n < 6 {
			t.Errorf("%s: the agent could be killed at %d moments only", name, n-2)
		}
	}
}

func TestHoldIsKeptWheneverTheAgentIsKilled(t *testing.T) {
	for n, killed := 1, true; killed; n++ {
		inBubble(t, func(b *bench) {
			a := allocation("service", taskSpec("t", policy(0, "fail")))
			var r *Runner
			r, killed = b.endure(n, a, func(r *Runner) {
				r.Update(launching(r.Allocation(), "1", map[string]*api.Launch{"t": {Hold: true}}))
			})
			time.Sleep(time.Minute)
			synctest.Wait()
			b.want(fmt.Sprintf("killed at call %d: state", n), "pending", brief(r, "t"))
			b.want("running", []string(nil), b.driver.Running())
			b.steer(r, "2", nil)
			b.want("running", []string{"t"}, b.driver.Running())
			b.want("state", "running", brief(r, "t"))
		})
	}
}
