// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// TestRestartInTurmoil rolls a restart over a job while the log fails at
// random, before and after a write, the server loses the lead and gets it back,
// and an operator pauses and resumes. In the state after every single log entry,
// the allocations that are told to restart are those that the restart knows of:
// there is no moment at which a crash could have one told twice, or forgotten.
func TestRestartInTurmoil(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) { restartInTurmoil(t, rand.New(rand.NewPCG(seed, 9))) })
		})
	}
}

func restartInTurmoil(t *testing.T, dice *rand.Rand) {
	var mu sync.Mutex // of these, and of the journal
	faults, calm := 0, true
	calmDown := func(is bool) {
		mu.Lock()
		defer mu.Unlock()
		calm = is
	}
	disk := rand.New(rand.NewPCG(dice.Uint64(), 2))
	var c *cluster
	srv, lead, err := server.NewDisturbed(server.Config{Workers: 4, Logger: slog.New(slog.DiscardHandler)}, func(propose server.Propose) server.Propose {
		return func(ctx context.Context, cmds ...state.Command) (uint64, []error, error) {
			mu.Lock()
			defer mu.Unlock()
			fault := 5
			if !calm && ofPipeline(cmds) {
				fault = disk.IntN(5)
			}
			if fault == 0 {
				faults++
				return 0, nil, errDisk
			}
			index, errs, err := propose(ctx, cmds...)
			checkRestart(t, c.Store().Snapshot())
			if fault == 1 {
				faults++
				return 0, nil, errDisk
			}
			return index, errs, err
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	c = &cluster{TB: t, Server: srv, nodes: map[string]*fakeNode{}}
	if err := srv.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer c.close()
	c.addNode("n1", nil)
	c.addNode("n2", nil)
	c.register(serviceJob("web", 9))
	c.until("deployed", func(s *state.Snapshot) bool { return deploymentStatus(s, "web") == api.DeploymentSuccessful })
	before := ids(running(c.Store().Snapshot(), "web"))

	r, err := c.StartRestart(t.Context(), "default", "web", &api.JobRestartRequest{BatchSize: 2, BatchWait: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	calmDown(false)
	for range 12 {
		switch dice.IntN(4) {
		case 0:
			lead.Set(false)
			c.pass(time.Duration(dice.IntN(500)) * time.Millisecond)
			lead.Set(true)
		case 1:
			status := []string{api.RestartPaused, api.RestartRunning}[dice.IntN(2)]
			if _, err := c.ChangeRestart(t.Context(), r.ID, status, nil); err != nil && api.CodeOf(err) != api.CodeConflict {
				t.Errorf("make the restart %s: %v", status, err)
			}
		}
		c.pass(time.Duration(dice.IntN(800)) * time.Millisecond)
	}
	calmDown(true)
	if c.Store().Snapshot().Restart(r.ID).Status == api.RestartPaused {
		if _, err := c.ChangeRestart(t.Context(), r.ID, api.RestartRunning, nil); err != nil {
			t.Fatal(err)
		}
	}
	c.until("restarted", func(s *state.Snapshot) bool { return s.Restart(r.ID).Status == api.RestartComplete })
	snap := c.Store().Snapshot()
	if diff := cmp.Diff(before, slices.Sorted(slices.Values(snap.Restart(r.ID).RestartedAllocs))); diff != "" {
		t.Errorf("restarted (-ran before +restarted):\n%s", diff)
	}
	if diff := cmp.Diff(before, ids(running(snap, "web"))); diff != "" {
		t.Errorf("allocations that run (-before +after):\n%s", diff)
	}
	if faults == 0 {
		t.Error("not one write failed: this tested nothing")
	}
}

// checkRestart compares what the restart knows with what nodes are told.
func checkRestart(t *testing.T, snap *state.Snapshot) {
	t.Helper()
	r := snap.LatestRestart("default", "web")
	if r == nil {
		return
	}
	known := map[string]bool{}
	for _, id := range r.RestartedAllocs {
		if known[id] {
			t.Errorf("state %d: %s was restarted twice", snap.Index(), id)
		}
		known[id] = true
	}
	told := map[string]bool{}
	for a := range snap.AllocationsByJob("default", "web") {
		if a.Launches == nil {
			continue
		}
		for _, l := range a.Launches.Tasks {
			told[a.ID] = told[a.ID] || l.Token == r.ID
		}
	}
	if !maps.Equal(known, told) {
		t.Errorf("state %d: the restart knows of %v, told are %v", snap.Index(), known, told)
	}
}

func ids(allocs []*api.Allocation) (ids []string) {
	for _, a := range allocs {
		ids = append(ids, a.ID)
	}
	slices.Sort(ids)
	return ids
}
