// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// systemJob is serviceJob's, once on every node.
func systemJob(id string) *api.Job {
	job := serviceJob(id, 1)
	job.Type = api.JobTypeSystem
	return job
}

// onEach reports whether the job runs, in that version, exactly once on each of
// n nodes.
func onEach(s *state.Snapshot, job string, version uint64, n int) bool {
	nodes := map[string]bool{}
	all := running(s, job)
	for _, a := range all {
		if a.JobVersion() == version {
			nodes[a.NodeID] = true
		}
	}
	return len(nodes) == n && len(all) == n
}

func TestSystemJobIsOnEveryNode(t *testing.T) {
	simulate(t, func(c *cluster) {
		for i := range 3 {
			c.addNode(fmt.Sprintf("n%d", i), nil)
		}
		job := systemJob("agent")
		c.register(job)
		c.until("on three nodes", func(s *state.Snapshot) bool {
			return onEach(s, "agent", 0, 3) && deploymentStatus(s, "agent") == api.DeploymentSuccessful
		})
		late := c.addNode("n3", nil)
		c.until("on the node that joined", func(s *state.Snapshot) bool { return onEach(s, "agent", 0, 4) })
		c.register(changed(job, "v1"))
		c.until("the new version is everywhere", func(s *state.Snapshot) bool {
			if n := len(running(s, "agent")); n < 3 {
				c.Fatalf("only %d of 4 run although max_parallel is 1\n%s", n, describe(s))
			}
			return onEach(s, "agent", 1, 4)
		})
		late.kill()
		c.until("gone with its node", func(s *state.Snapshot) bool { return onEach(s, "agent", 1, 3) })
		c.connect(late.node, nil)
		c.until("back with its node", func(s *state.Snapshot) bool { return onEach(s, "agent", 1, 4) })
		if _, err := c.DeregisterJob(c.Context(), "default", "agent", server.DeregisterOptions{}); err != nil {
			t.Fatal(err)
		}
		c.until("stopped everywhere", func(s *state.Snapshot) bool {
			return len(running(s, "agent")) == 0 && s.Job("default", "agent").Status == api.JobStatusDead
		})
	})
}

func TestSysBatchRunsOnceOnEveryNode(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n0", nil)
		c.addNode("n1", nil)
		job := batchJob("scan", 1)
		job.Type = api.JobTypeSysBatch
		c.register(job)
		done := func(n int) func(*state.Snapshot) bool {
			return func(s *state.Snapshot) bool {
				return s.Job("default", "scan").Status == api.JobStatusDead && s.JobSummary("default", "scan").Summary["work"].Complete == n
			}
		}
		c.until("done on both nodes", done(2))
		c.addNode("n2", nil)
		c.until("done on the node that joined", done(3))
		c.register(job)
		c.pass(time.Minute)
		if s := c.Store().Snapshot(); !done(3)(s) {
			t.Errorf("registering the job again ran it again\n%s", describe(s))
		}
	})
}

func TestOriginalGoesOnWhenItsNodeIsBack(t *testing.T) {
	simulate(t, func(c *cluster) {
		nodes := []*fakeNode{c.addNode("n0", nil), c.addNode("n1", nil)}
		job := serviceJob("web", 1)
		job.Groups[0].Disconnect = &api.Disconnect{LostAfter: ptr(time.Hour), Reconcile: ptr(api.ReconcileKeepOriginal)}
		c.register(job)
		c.until("deployed", func(s *state.Snapshot) bool { return deploymentStatus(s, "web") == api.DeploymentSuccessful })
		original := running(c.Store().Snapshot(), "web")[0]
		for _, n := range nodes {
			if n.node.ID == original.NodeID {
				n.kill()
				c.until("replaced while out of reach", func(s *state.Snapshot) bool {
					all := running(s, "web")
					return s.Allocation(original.ID).ClientStatus == api.AllocClientUnknown && len(all) > 0 && all[0].NodeID != original.NodeID
				})
				c.connect(n.node, nil)
			}
		}
		c.until("the original alone", func(s *state.Snapshot) bool {
			all := running(s, "web")
			return len(all) == 1 && all[0].ID == original.ID
		})
		c.pass(2 * time.Hour)
		if s := c.Store().Snapshot(); len(running(s, "web")) != 1 || running(s, "web")[0].ID != original.ID {
			t.Errorf("the original does not go on\n%s", describe(s))
		}
	})
}
