// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/allocdir"
	"github.com/reeve-run/reeve/internal/node/check"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/drivertest"
	"github.com/reeve-run/reeve/internal/node/ledger"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// bench is a host with one fake driver.
type bench struct {
	*testing.T
	host   *Host
	driver *drivertest.Driver
	stop   context.CancelFunc
	dir    string
	revive func() // starts the next agent, after one that was killed; see crash_test.go
}

// inBubble runs a test with virtual time.
func inBubble(t *testing.T, do func(b *bench)) {
	t.Helper()
	dir := t.TempDir()
	bubble.Test(t, func(t *testing.T) {
		b := &bench{T: t, dir: dir, driver: drivertest.New()}
		b.open()
		do(b)
		b.close()
	})
}

func (b *bench) open() {
	b.Helper()
	l, err := ledger.Open(filepath.Join(b.dir, "node.db"))
	if err != nil {
		b.Fatal(err)
	}
	dirs, err := allocdir.Open(b.dir)
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	checks := check.New()
	go checks.Run(ctx)
	b.stop = stop
	node := &api.Node{ID: "node-1", Name: "n", Datacenter: "dc1", Attributes: map[string]string{"unique.network.ip-address": "127.0.0.1"}}
	b.host = &Host{
		Drivers: map[string]driver.Driver{"fake": b.driver}, Dirs: dirs, Ledger: l, Checks: checks,
		Node: func() *api.Node { return node }, Environ: []string{"PATH=/bin"}, Logger: slog.New(slog.DiscardHandler),
		Context: ctx, Changed: func(*Runner, bool) {},
	}
}

func (b *bench) close() {
	b.stop()
	synctest.Wait()
	if err := b.host.Ledger.Close(); err != nil {
		b.Error(err)
	}
	synctest.Wait()
}

func ptr[T any](v T) *T { return &v }

func taskSpec(name string, change ...func(*api.Task)) *api.Task {
	t := &api.Task{Name: name, Driver: "fake"}
	for _, do := range change {
		do(t)
	}
	return t
}

func lifecycle(hook string, sidecar bool) func(*api.Task) {
	return func(t *api.Task) { t.Lifecycle = &api.Lifecycle{Hook: hook, Sidecar: sidecar} }
}

func policy(attempts int, mode string) func(*api.Task) {
	return func(t *api.Task) {
		t.Restart = &api.Restart{Attempts: &attempts, Interval: ptr(30 * time.Minute), Delay: ptr(16 * time.Second), Mode: &mode}
	}
}

func allocation(kind string, tasks ...*api.Task) *api.Allocation {
	job := &api.Job{ID: "web", Name: "web", Type: kind, Groups: []*api.Group{{Name: "g", Tasks: tasks}}}
	job.Canonicalize()
	return &api.Allocation{
		ID: "a10c0000-0000-4000-8000-000000000000", Namespace: "default", Name: "web.g[0]", JobID: "web", Job: job, Group: "g",
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending,
	}
}

func (b *bench) start(a *api.Allocation) *Runner {
	r := New(b.host, a)
	r.Start()
	synctest.Wait()
	return r
}

// story is a task's events as text, without their times.
func story(r *Runner, task string) []string {
	var lines []string
	for _, e := range r.Report().TaskStates[task].Events {
		lines = append(lines, e.Type+": "+e.DisplayMessage)
	}
	return lines
}

func (b *bench) want(what string, want, got any) {
	b.Helper()
	if d := cmp.Diff(want, got); d != "" {
		b.Errorf("%s (-want +got):\n%s", what, d)
	}
}
