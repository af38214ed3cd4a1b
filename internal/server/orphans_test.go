// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// strayOf is an allocation that a node brings from another cluster.
func strayOf(ns, job string) *api.OfferedOrphan {
	j := &api.Job{ID: job, Name: job, Namespace: ns, Type: api.JobTypeService, Groups: []*api.Group{{Name: "g", Tasks: []*api.Task{{Name: "t", Driver: "mock"}}}}}
	j.Canonicalize()
	return &api.OfferedOrphan{ClusterID: "another", Allocation: &api.Allocation{
		ID: api.NewID(), Namespace: ns, JobID: job, Group: "g", Name: api.AllocName(job, "g", 0), Job: j,
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning, CreateIndex: 1 << 40,
	}}
}

func (c *cluster) offer(node string, orphans ...*api.OfferedOrphan) (map[string]string, error) {
	res, err := c.OfferOrphans(c.Context(), node, &api.OfferOrphansRequest{Orphans: orphans})
	if err != nil {
		return nil, err
	}
	return res.Refused, nil
}

// bring registers nodes that nobody plays: they only offer what they run.
func (c *cluster) bring(nodes ...string) {
	c.Helper()
	for _, n := range nodes {
		if _, err := c.RegisterNode(c.Context(), &api.Node{ID: n, Name: n, LastCluster: "another"}); err != nil {
			c.Fatal(err)
		}
	}
}

func TestOrphansOfWhateverKindGoOn(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.bring("n1", "n2")
		twice, ghost, purged := strayOf("default", "twice"), strayOf("ghosts", "ghost"), strayOf("default", "purged")
		if refused, err := c.offer("n1", twice, ghost); err != nil || len(refused) != 0 {
			t.Fatalf("refused are %v: %v", refused, err)
		}
		// Another node claims to run one of the same id.
		if refused, err := c.offer("n2", twice, purged); err != nil || len(refused) != 1 || !strings.Contains(refused[twice.Allocation.ID], "n1") {
			t.Errorf("refused are %v: %v", refused, err)
		}
		// What belongs to a job that is being purged stops with it; what comes when it
		// is gone is nobody's.
		purge := func(job string) {
			t.Helper()
			if _, err := c.DeregisterJob(c.Context(), "default", job, server.DeregisterOptions{Purge: true}); err != nil {
				t.Fatal(err)
			}
		}
		c.register(purged.Allocation.Job)
		purge("purged")
		c.until("the purged job's instance stops", func(s *state.Snapshot) bool {
			a := s.Allocation(purged.Allocation.ID)
			return a != nil && a.IsServerTerminal()
		})
		gone := strayOf("default", "gone").Allocation.Job
		gone.Groups[0].Count = new(int)
		c.register(gone)
		purge("gone")
		c.until("the job is gone", func(s *state.Snapshot) bool { return s.Job("default", "gone") == nil })
		late := strayOf("default", "gone")
		if refused, err := c.offer("n2", late, purged); err != nil || len(refused) != 0 {
			t.Errorf("refused are %v: %v", refused, err)
		}
		c.pass(2 * time.Minute)
		runs := func(o *api.OfferedOrphan) bool {
			a := c.Store().Snapshot().Allocation(o.Allocation.ID)
			return a != nil && a.Orphan && !a.IsServerTerminal()
		}
		if !runs(twice) || !runs(ghost) || !runs(late) {
			t.Errorf("in a stale domain, they run: %t %t %t", runs(twice), runs(ghost), runs(late))
		}
		// Marking while more arrive: all of them are stopped, and nothing is left over.
		if _, err := c.MarkDomain(c.Context(), "", &api.DomainRequest{}); err != nil {
			t.Fatal(err)
		}
		last := strayOf("default", "last")
		if _, err := c.offer("n1", last); err != nil {
			t.Fatal(err)
		}
		c.until("all are told to stop", func(s *state.Snapshot) bool {
			for _, o := range []*api.OfferedOrphan{twice, ghost, late, last} {
				if a := s.Allocation(o.Allocation.ID); a == nil || !a.IsServerTerminal() {
					return false
				}
			}
			return true
		})
	})
}

func TestOrphansThatCannotBeStoredAreRefused(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.bring("n1")
		for want, spoil := range map[string]func(o *api.OfferedOrphan){
			"no Allocation":           func(o *api.OfferedOrphan) { o.Allocation = nil },
			"no ID":                   func(o *api.OfferedOrphan) { o.Allocation.ID = "" },
			"does not say":            func(o *api.OfferedOrphan) { o.Allocation.Namespace = "" },
			"without its Job":         func(o *api.OfferedOrphan) { o.Allocation.Job = nil },
			"which its Job does not":  func(o *api.OfferedOrphan) { o.Allocation.Group = "h" },
			`is not web.g[0]`:         func(o *api.OfferedOrphan) { o.Allocation.Name = "other.g[0]" },
			`Name "web.g[-5]" is not`: func(o *api.OfferedOrphan) { o.Allocation.Name = "web.g[-5]" },
		} {
			o := strayOf("default", "web")
			spoil(o)
			if _, err := c.offer("n1", o); api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Orphans[0]") {
				t.Errorf("want %q: %v", want, err)
			}
		}
		if _, err := c.offer("nobody"); api.CodeOf(err) != api.CodeNotFound {
			t.Errorf("of an unknown node: %v", err)
		}
	})
}
