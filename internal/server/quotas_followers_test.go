// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// TestWorkersOfAllServersKeepQuotas lets the workers of three servers place at once. Those of
// followers do not see each other's reservations, so the leader's applier refuses some of them.
func TestWorkersOfAllServersKeepQuotas(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tr := newTrio(t, withWorkers(1, 4))
		defer tr.close()
		tr.addNodes(51)
		limit := func(n int) {
			t.Helper()
			q := &api.Quota{Name: "q", Limits: []*api.QuotaLimit{{RegionLimit: &api.QuotaResources{Allocations: &n}}}}
			var err error
			for range 30 {
				if _, err = tr.leader().PutQuota(t.Context(), q, nil); err == nil {
					return
				}
				tr.pass(time.Second) // the level of the state rises once all servers have announced theirs
			}
			t.Fatal(err)
		}
		used := func() int64 { return tr.leader().Store().Snapshot().QuotaUsed("q")["default"].Allocations }
		limit(120)
		if _, err := tr.leader().PutNamespace(t.Context(), &api.Namespace{Name: "default", Quota: "q"}, nil); err != nil {
			t.Fatal(err)
		}
		over := make(chan int64, 1)
		ctx := t.Context()
		leader := tr.leader()
		watched, stop := make(chan struct{}), make(chan struct{})
		go func() { // looks at every state
			defer close(watched)
			most := int64(0)
			for index := leader.Store().Index(); ; index = leader.Store().Index() {
				most = max(most, used())
				select {
				case <-stop:
					over <- most
					return
				default:
				}
				if leader.Store().Wait(ctx, index+1) != nil {
					over <- most
					return
				}
			}
		}()
		const jobs = 250
		tr.burst(jobs, 1)
		for range 60 {
			if used() == 120 {
				break
			}
			tr.pass(time.Second)
		}
		tr.pass(40 * time.Second)
		blocked := 0
		for e := range tr.leader().Store().Snapshot().Evaluations() {
			if e.Status == api.EvalStatusBlocked && e.QuotaLimitReached == "q" {
				blocked++
			}
		}
		if used() != 120 || blocked != jobs-120 {
			t.Errorf("%d are used and %d jobs wait, want 120 and %d", used(), blocked, jobs-120)
		}
		close(stop)
		limit(120) // the watcher waits for a change
		<-watched
		if most := <-over; most != 120 {
			t.Errorf("%d were used, want 120 at most", most)
		}
		limit(jobs)
		tr.wantEachOnce(jobs, 1)
		if snap := tr.leader().Store().Snapshot(); used() != jobs || snapCounted(snap) != jobs {
			t.Errorf("%d are used of %d", used(), snapCounted(snap))
		}
	})
}

// snapCounted returns the number of allocations that are to run.
func snapCounted(s *state.Snapshot) (n int64) {
	for a := range s.Allocations() {
		if !a.IsTerminal() {
			n++
		}
	}
	return n
}
