// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/server/remote"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// withWorkers gives the leader and the others a number of workers.
func withWorkers(leader, others int) func(string, *server.Config) {
	return func(id string, c *server.Config) {
		if c.Workers = others; c.Bootstrap {
			c.Workers = leader
		}
	}
}

// computed returns the evaluations that each server computed, in the view of the leader.
func (tr *trio) computed() map[string]uint64 {
	by := map[string]uint64{}
	for _, s := range tr.leader().Servers() {
		by[s.ID] = s.Evaluations
	}
	return by
}

// burst registers jobs at once, each with a number of instances.
func (tr *trio) burst(jobs, count int) {
	tr.Helper()
	leader := tr.leader()
	failed := make(chan error, jobs)
	for i := range jobs {
		go func() {
			_, err := leader.RegisterJob(tr.Context(), &api.RegisterJobRequest{Job: batchJob(fmt.Sprint("job-", i), count)})
			failed <- err
		}()
	}
	for range jobs {
		if err := <-failed; err != nil {
			tr.Error(err)
		}
	}
}

// wantEachOnce waits until each of the burst's jobs has its instances, and checks that no index is held
// twice and that no evaluation is left.
func (tr *trio) wantEachOnce(jobs, count int) {
	tr.Helper()
	var snap *state.Snapshot
	for range 300 {
		snap = tr.leader().Store().Snapshot()
		n, open := 0, 0
		for range snap.Allocations() {
			n++
		}
		for e := range snap.Evaluations() {
			if e.Status == api.EvalStatusPending || e.Status == api.EvalStatusBlocked {
				open++
			}
		}
		if n >= jobs*count && open == 0 {
			break
		}
		tr.pass(time.Second)
	}
	seen := map[string]string{}
	for a := range snap.Allocations() {
		if other := seen[a.JobID+"/"+a.Name]; other != "" {
			tr.Errorf("allocations %s and %s hold the same instance %s", other, a.ID, a.Name)
		}
		seen[a.JobID+"/"+a.Name] = a.ID
	}
	if len(seen) != jobs*count {
		tr.Errorf("%d instances are placed, want %d\n%s", len(seen), jobs*count, describe(snap))
	}
	for e := range snap.Evaluations() {
		if e.Status != api.EvalStatusComplete {
			tr.Errorf("evaluation %s of job %s is %s", e.ID, e.JobID, e.Status)
		}
	}
}

// addNodes registers nodes with room for ten instances each. They run nothing, and stay alive
// until the end of the test.
func (tr *trio) addNodes(n int) {
	tr.Helper()
	for i := range n {
		if _, err := tr.leader().RegisterNode(tr.Context(), newNode(fmt.Sprint("node-", i))); err != nil {
			tr.Fatal(err)
		}
	}
	tr.alive = n
}

// pass lets time pass, while the nodes stay alive.
func (tr *trio) pass(d time.Duration) {
	for ; d > 0; d -= time.Second {
		time.Sleep(min(d, time.Second))
		leader := tr.leader()
		for i := range tr.alive {
			_, _ = leader.Heartbeat(tr.Context(), fmt.Sprint("node-", i))
		}
	}
}

func TestEveryServerComputes(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tr := newTrio(t, withWorkers(1, 4))
		defer tr.close()
		tr.addNodes(51) // the workers of different servers take the same room
		const jobs = 500
		tr.burst(jobs, 1)
		tr.wantEachOnce(jobs, 1)
		tr.pass(5 * time.Second) // the next polls bring the counts
		sum := uint64(0)
		for id, n := range tr.computed() {
			t.Logf("%s computed %d evaluations", id, n)
			if n == 0 {
				t.Errorf("%s computed no evaluation", id)
			}
			sum += n
		}
		if sum < jobs {
			t.Errorf("the servers computed %d evaluations, want at least %d", sum, jobs)
		}
		t.Logf("refused: %s", tr.leader().Stats()["placements_refused"])
		t.Logf("%d polls and %d requests with results", tr.calls.polls.Load(), tr.calls.answers.Load())
	})
}

// A gate holds back the answers of servers until it opens.
type gate struct {
	open chan struct{}

	mu      sync.Mutex
	waiting map[string]bool // servers
}

func (tr *trio) closeGate() *gate {
	g := &gate{open: make(chan struct{}), waiting: map[string]bool{}}
	tr.calls.gate = func(ctx context.Context, from, path string) {
		if path != remote.AnswerPath {
			return
		}
		g.mu.Lock()
		g.waiting[from] = true
		g.mu.Unlock()
		select {
		case <-g.open:
		case <-ctx.Done():
		}
	}
	return g
}

// await waits until both followers have results.
func (g *gate) await(t *testing.T) {
	t.Helper()
	for range 6000 {
		g.mu.Lock()
		n := len(g.waiting)
		g.mu.Unlock()
		if n == 2 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the followers have no results")
}

// TestLostFollower cuts a follower off while it computes. The others finish its evaluations.
func TestLostFollower(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tr := newTrio(t, withWorkers(1, 4))
		defer tr.close()
		tr.addNodes(20)
		g := tr.closeGate()
		tr.burst(100, 1)
		g.await(t)
		tr.lan.isolate("server-1")
		close(g.open)
		tr.wantEachOnce(100, 1)
	})
}

// TestLeaderLostWhileFollowersCompute has only followers compute, and cuts the leader off before
// it receives their results. The next leader has all evaluations computed again.
func TestLeaderLostWhileFollowersCompute(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tr := newTrio(t, withWorkers(-1, 4))
		defer tr.close()
		tr.addNodes(20)
		g := tr.closeGate()
		tr.burst(100, 1)
		g.await(t)
		first := tr.leader()
		tr.end(first, false)
		close(g.open)
		tr.wantEachOnce(100, 1)
	})
}

// TestPlannedTransferWhileFollowersCompute transfers leadership to and fro during a burst.
func TestPlannedTransferWhileFollowersCompute(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tr := newTrio(t, withWorkers(2, 2))
		defer tr.close()
		tr.addNodes(20)
		g := tr.closeGate()
		tr.burst(150, 1)
		g.await(t)
		for range 3 {
			if err := tr.leader().Replica().Transfer(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			tr.pass(time.Second)
		}
		close(g.open)
		tr.wantEachOnce(150, 1)
	})
}

// TestLostResponses loses a third of the leader's responses, after it acted on the requests.
func TestLostResponses(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tr := newTrio(t, withWorkers(1, 4))
		defer tr.close()
		tr.addNodes(20)
		var calls atomic.Int64
		tr.calls.lose = func(string, string) bool { return calls.Add(1)%3 == 0 }
		tr.burst(150, 1)
		tr.wantEachOnce(150, 1)
	})
}

// TestOldSnapshotPlacesNothingThatIsGone has followers place on nodes that are closed, and for jobs
// that are stopped, before the leader receives the results. The applier refuses them.
func TestOldSnapshotPlacesNothingThatIsGone(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tr := newTrio(t, withWorkers(-1, 4))
		defer tr.close()
		tr.addNodes(20)
		g := tr.closeGate()
		tr.burst(100, 1)
		g.await(t)
		leader := tr.leader()
		for i := range 20 {
			if _, err := leader.SetNodeEligibility(t.Context(), fmt.Sprint("node-", i), api.NodeIneligible); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 50 {
			if _, err := leader.DeregisterJob(t.Context(), "default", fmt.Sprint("job-", i), server.DeregisterOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 20 {
			if _, err := leader.RegisterNode(t.Context(), newNode(fmt.Sprint("node-", 20+i))); err != nil {
				t.Fatal(err)
			}
		}
		tr.alive = 40
		closed := leader.Store().Index()
		close(g.open)
		tr.pass(time.Minute)
		n := 0
		for a := range leader.Store().Snapshot().Allocations() {
			if n++; a.CreateIndex <= closed {
				continue
			}
			var node, job int
			fmt.Sscanf(a.NodeID, "node-%d", &node)
			fmt.Sscanf(a.JobID, "job-%d", &job)
			if node < 20 {
				t.Errorf("allocation %s was placed on %s after it was closed", a.ID, a.NodeID)
			}
			if job < 50 && !a.IsServerTerminal() {
				t.Errorf("allocation %s of %s was placed after the job was stopped", a.ID, a.JobID)
			}
		}
		if n < 50 {
			t.Errorf("%d instances were placed, want at least 50", n)
		}
	})
}
