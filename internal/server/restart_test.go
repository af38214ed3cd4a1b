// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// TestRestartInTheMiddleOfARollout shuts the server down between two steps of
// a rolling update: what it finds in its data directory is enough to go on.
func TestRestartInTheMiddleOfARollout(t *testing.T) {
	cfg := server.Config{DataDir: t.TempDir()}
	slow := func(*api.Allocation, *api.Job) []event {
		return []event{{status: api.AllocClientRunning}, {after: 5 * time.Millisecond, status: api.AllocClientRunning, healthy: healthy(true)}}
	}
	job := serviceJob("web", 5)
	var node *api.Node

	c := start(t, cfg)
	node = c.addNode("n1", slow).node
	c.register(job)
	c.until("first deployment", func(s *state.Snapshot) bool { return deploymentStatus(s, "web") == api.DeploymentSuccessful })
	c.register(changed(job, "v1"))
	c.until("two of five updated", func(s *state.Snapshot) bool { return updated(s) >= 2 })
	c.close()
	before := c.Store().Snapshot()
	if n := updated(before); n == 5 {
		t.Fatal("the rollout was over before the restart")
	}

	c = start(t, cfg)
	defer c.close()
	if now := updated(c.Store().Snapshot()); now < updated(before) {
		t.Fatalf("%d instances are updated after the restart, %d before", now, updated(before))
	}
	c.connect(node, slow)
	c.until("the rollout goes on to its end", func(s *state.Snapshot) bool {
		if n := len(running(s, "web")); n > 5+1 {
			t.Fatalf("%d instances run at once, want at most 5 and one being replaced\n%s", n, describe(s))
		}
		return deploymentStatus(s, "web") == api.DeploymentSuccessful && updated(s) == 5
	})
	if snap := c.Store().Snapshot(); !snap.Job("default", "web").Stable {
		t.Error("the version is not stable after its deployment")
	}
}

// updated counts the healthy instances of version 1.
func updated(s *state.Snapshot) (n int) {
	for _, a := range running(s, "web") {
		if a.JobVersion() == 1 && a.IsHealthy() {
			n++
		}
	}
	return n
}

// TestRestartKeepsWhatWaits shows that delayed and blocked evaluations, which
// the broker holds in memory, are found again.
func TestRestartKeepsWhatWaits(t *testing.T) {
	cfg := server.Config{DataDir: t.TempDir()}
	c := start(t, cfg)
	c.register(serviceJob("web", 1))
	blocked := func(s *state.Snapshot) bool {
		for e := range s.EvaluationsByJob("default", "web") {
			if e.Status == api.EvalStatusBlocked {
				return true
			}
		}
		return false
	}
	c.until("blocked", blocked)
	c.close()

	c = start(t, cfg)
	defer c.close()
	if !blocked(c.Store().Snapshot()) {
		t.Fatal("the blocked evaluation is gone after the restart")
	}
	c.addNode("n1", nil)
	c.within(10*time.Second, "runs", func(s *state.Snapshot) bool { return len(running(s, "web")) == 1 })
}
