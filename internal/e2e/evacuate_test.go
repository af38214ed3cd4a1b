// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// The node of the only instance of a service is drained under load: it goes on
// until its replacement serves, so that no request is lost.
func TestEvacuatedInstanceGoesOnUntilItsReplacementServes(t *testing.T) {
	f := newRoutedFleet(t, 2)
	gate := openGate(t)
	job := gated(1, gate)
	job.Groups[0].ShutdownDelay = ptr(500 * time.Millisecond)
	job.Groups[0].Services[0].Checks[0].Kind = api.CheckKindReadiness
	f.server.register(job)
	victim, was := f.place("web")
	f.server.eventually("the router leads to it", func(ctx context.Context) error { return f.server.routed(ctx, 1) })
	h := f.server.hammer(4)
	if err := os.Remove(gate); err != nil { // what is started now does not serve
		t.Fatal(err)
	}
	f.reeve("node", "drain", "-enable", "-yes", "-detach", f.name(victim))
	next := f.replacement("web", was.ID)
	shown := f.reeve("instance", "list", "web")
	a := f.allocation(was.ID)
	if a.DesiredStatus != api.AllocDesiredRun || a.ClientStatus != api.AllocClientRunning || !f.isRouted(was.ID) || !strings.Contains(shown, "evacuating") {
		t.Errorf("while its replacement starts it is %s/%s, routed: %t\n%s", a.DesiredStatus, a.ClientStatus, f.isRouted(was.ID), shown)
	}
	t.Logf("while the replacement starts:\n%s\n%s", shown, f.reeve("node", "status", f.name(victim)))
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	left := f.change(was.ID)
	f.mu.Lock()
	came := slices.IndexFunc(f.updates, func(u *api.CatalogUpdate) bool {
		return slices.ContainsFunc(u.Entries, func(e *api.CatalogEntry) bool { return e.AllocID == next.ID })
	})
	if came < 0 || f.updates[came].Index >= left.Index {
		t.Errorf("it left the catalog at index %d, its replacement came in update %d", left.Index, came)
	}
	f.mu.Unlock()
	f.server.eventually("the node is drained", func(ctx context.Context) error {
		n, err := f.find(ctx, victim)
		if err == nil && (n.LastDrain == nil || n.LastDrain.Status != api.DrainStatusComplete) {
			err = errors.New("it is not")
		}
		return err
	})
	h.stop()
	t.Logf("%d requests", h.sent.Load())
	if h.lost.Load() > 0 {
		t.Errorf("%d of %d requests were lost, the first one: %s", h.lost.Load(), h.sent.Load(), h.first)
	}
	if n := len(victim.servers()); n > 0 {
		t.Errorf("the drain is complete, and %d processes serve", n)
	}
}

// What must not run twice is ended on the drained node before it begins elsewhere.
func TestEvacuatedSingletonEndsBeforeItsReplacementBegins(t *testing.T) {
	f := newRoutedFleet(t, 2)
	job := gated(1, openGate(t))
	job.Groups[0].Migrate = &api.Migrate{Recreate: ptr(true)}
	job.Groups[0].ShutdownDelay = ptr(time.Second)
	f.server.register(job)
	victim, was := f.place("web")
	f.reeve("node", "drain", "-enable", "-yes", "-detach", f.name(victim))
	next := f.replacement("web", was.ID)
	f.inStream(1)
	if n := len(victim.servers()); n > 0 {
		t.Errorf("its replacement runs, and %d processes serve on the drained node", n)
	}
	ended, began := time.Time{}, time.Time{}
	for _, s := range f.allocation(was.ID).TaskStates {
		ended = s.FinishedAt
	}
	for _, s := range f.allocation(next.ID).TaskStates {
		began = s.StartedAt
	}
	if ended.IsZero() || began.Before(ended) {
		t.Errorf("the old one ended at %s, the new one began at %s", ended, began)
	}
	t.Logf("began %s after the end", began.Sub(ended))
}
