// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// limit stores a quota and gives it to namespaces.
func (c *cluster) limit(name string, r *api.QuotaResources, namespaces ...string) {
	c.Helper()
	c.until("the state has the level of quotas", func(s *state.Snapshot) bool { return s.Level() >= 3 })
	if _, err := c.PutQuota(c.Context(), &api.Quota{Name: name, Limits: []*api.QuotaLimit{{RegionLimit: r}}}, nil); err != nil {
		c.Fatal(err)
	}
	for _, n := range namespaces {
		if _, err := c.PutNamespace(c.Context(), &api.Namespace{Name: n, Quota: name}, nil); err != nil {
			c.Fatal(err)
		}
	}
}

// counted returns the allocations of a job that are to run.
func counted(s *state.Snapshot, namespace, job string) (n int) {
	for a := range s.AllocationsByJob(namespace, job) {
		if !a.IsTerminal() {
			n++
		}
	}
	return n
}

func limitedJob(namespace, id string, count, memory int) *api.Job {
	job := serviceJob(id, count)
	job.Namespace = namespace
	job.Groups[0].Tasks[0].Resources.MemoryMB = ptr(memory)
	return job
}

// TestInstancesBeyondAQuotaWait places what fits, explains the rest, and places it when usage falls,
// when the limit rises, and when the namespace has another quota; and never for a node that comes.
func TestInstancesBeyondAQuotaWait(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.limit("team", &api.QuotaResources{MemoryMB: ptr(250)}, "dev")
		c.register(limitedJob("dev", "web", 5, 64))
		c.until("three run and one evaluation waits", func(s *state.Snapshot) bool {
			e := s.BlockedEvaluation("dev", "web")
			return counted(s, "dev", "web") == 3 && e != nil && e.QuotaLimitReached == "team"
		})
		snap := c.Store().Snapshot()
		e := snap.BlockedEvaluation("dev", "web")
		const why = `quota "team": memory exhausted (192 used + 64 asked > 250 MB limit)`
		m := e.FailedGroups["web"]
		if m == nil || len(m.QuotaExhausted) != 1 || m.QuotaExhausted[0] != why || m.CoalescedFailures != 1 || e.QueuedAllocations["web"] != 2 {
			t.Errorf("the evaluation is %+v with %+v", e, m)
		}
		if e.EscapedComputedClass || len(e.ClassEligibility) > 0 {
			t.Errorf("the evaluation waits for nodes: %+v", e)
		}
		in, _, err := c.Instances(c.Context(), "dev", "web")
		if err != nil {
			t.Fatal(err)
		}
		waiting := 0
		for _, i := range in {
			if i.PlacementError == "waits for "+why+"; see: reeve quota status team" {
				waiting++
			}
		}
		if waiting != 2 {
			t.Errorf("%d instances say why they wait", waiting)
		}
		x, err := c.ExplainJob(c.Context(), "dev", "web")
		if err != nil || len(x.Groups[0].Quota) != 1 || len(x.Unblock) != 1 || !strings.Contains(x.Unblock[0], `6 MB more of memory in quota "team"`) {
			t.Errorf("the explanation is %+v, %v", x, err)
		}
		c.pass(5 * time.Minute) // the deployment has failed by then, which evaluates the job
		if stats := c.Figures(); stats.Broker.Limited != 1 {
			t.Errorf("%d evaluations wait for a quota", stats.Broker.Limited)
		}
		index := c.Store().Snapshot().BlockedEvaluation("dev", "web").ModifyIndex
		c.addNode("n2", nil)
		c.pass(time.Minute)
		if now := c.Store().Snapshot().BlockedEvaluation("dev", "web"); now.ModifyIndex != index || counted(c.Store().Snapshot(), "dev", "web") != 3 {
			t.Errorf("a node woke the evaluation: %+v", now)
		}

		c.limit("team", &api.QuotaResources{MemoryMB: ptr(256)})
		c.within(time.Second, "a higher limit places one", func(s *state.Snapshot) bool { return counted(s, "dev", "web") == 4 })

		c.register(limitedJob("dev", "other", 1, 64))
		c.until("the other job waits", func(s *state.Snapshot) bool { return s.BlockedEvaluation("dev", "other") != nil })
		c.register(limitedJob("dev", "web", 3, 64))
		c.within(5*time.Second, "what the first job frees goes to the other", func(s *state.Snapshot) bool {
			return counted(s, "dev", "web") == 3 && counted(s, "dev", "other") == 1 && s.BlockedEvaluation("dev", "other") == nil
		})

		c.register(limitedJob("dev", "web", 5, 64))
		c.until("it waits again", func(s *state.Snapshot) bool { return s.BlockedEvaluation("dev", "web") != nil })
		c.limit("large", &api.QuotaResources{Allocations: ptr(100)}, "dev")
		c.within(time.Second, "another quota permits all", func(s *state.Snapshot) bool { return counted(s, "dev", "web") == 5 })

		c.limit("large", &api.QuotaResources{Allocations: ptr(-1)})
		c.pass(time.Minute)
		if n := counted(c.Store().Snapshot(), "dev", "web"); n != 5 {
			t.Errorf("a lower limit stopped instances: %d run", n)
		}
	})
}

// TestUpdatesWithinAQuotaCountNet rolls a job that uses all of its quota to another version.
func TestUpdatesWithinAQuotaCountNet(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.limit("team", &api.QuotaResources{MemoryMB: ptr(192)}, "dev")
		c.register(limitedJob("dev", "web", 3, 64))
		c.until("all run", func(s *state.Snapshot) bool { return counted(s, "dev", "web") == 3 })
		c.pass(time.Minute)
		next := limitedJob("dev", "web", 3, 64)
		next.Groups[0].Tasks[0].Config["run_for"] = "2h"
		c.register(next)
		c.within(2*time.Minute, "the new version runs", func(s *state.Snapshot) bool {
			if total := s.QuotaUsed("team")["default"]; total.MemoryMB > 192 {
				t.Errorf("%d MB are used", total.MemoryMB)
			}
			n := 0
			for a := range s.AllocationsByJob("dev", "web") {
				if !a.IsTerminal() && a.JobVersion() == 1 {
					n++
				}
			}
			return n == 3
		})
	})
}

// TestSystemJobsKeepQuotas places a system job on as many nodes as its quota permits.
func TestSystemJobsKeepQuotas(t *testing.T) {
	simulate(t, func(c *cluster) {
		for i := range 4 {
			c.addNode(fmt.Sprintf("n%d", i), nil)
		}
		c.limit("team", &api.QuotaResources{Allocations: ptr(3)}, "dev")
		job := limitedJob("dev", "agent", 1, 64)
		job.Type, job.Groups[0].Count, job.Groups[0].Update = api.JobTypeSystem, nil, nil
		c.register(job)
		c.until("three run", func(s *state.Snapshot) bool {
			return counted(s, "dev", "agent") == 3 && s.BlockedEvaluation("dev", "agent") != nil
		})
		c.limit("team", &api.QuotaResources{Allocations: ptr(4)})
		c.within(time.Second, "the fourth runs", func(s *state.Snapshot) bool { return counted(s, "dev", "agent") == 4 })
	})
}

// TestRacingWorkersKeepQuotas registers, changes and stops jobs of namespaces with a common quota and
// with quotas of their own at the same time, and looks at every state. When all is quiet, no limit
// leaves room for an instance that waits.
func TestRacingWorkersKeepQuotas(t *testing.T) {
	simulate(t, func(c *cluster) {
		for i := range 5 {
			c.addNode(fmt.Sprintf("n%d", i), nil)
		}
		c.limit("whole", &api.QuotaResources{MemoryMB: ptr(1500)}, "a", "b")
		c.limit("part", &api.QuotaResources{Allocations: ptr(7), CPU: ptr(900)}, "a/x", "a/y")
		limits := func(s *state.Snapshot) {
			t.Helper()
			whole, part := s.QuotaUsed("whole")["default"], s.QuotaUsed("part")["default"]
			if whole.MemoryMB > 1500 || part.Allocations > 7 || part.CPU > 900 {
				t.Errorf("index %d: the usage exceeds the limits: %+v, %+v", s.Index(), whole, part)
			}
		}
		seen := make(chan struct{})
		var watch sync.WaitGroup
		watch.Go(func() {
			for index := uint64(0); ; {
				s := c.Store().Snapshot()
				limits(s)
				index = s.Index()
				select {
				case <-seen:
					return
				default:
				}
				if c.Store().Wait(c.Context(), index+1) != nil {
					return
				}
			}
		})
		r := rand.New(rand.NewPCG(7, 7))
		spaces := []string{"a", "b", "a/x", "a/y"}
		for range 30 {
			var flying sync.WaitGroup
			for i := range 8 {
				job := limitedJob(spaces[r.IntN(4)], fmt.Sprintf("job%d", i), r.IntN(5), 64*(1+r.IntN(3)))
				flying.Go(func() {
					if _, err := c.RegisterJob(c.Context(), &api.RegisterJobRequest{Job: job}); err != nil {
						t.Error(err)
					}
				})
			}
			flying.Wait()
			c.pass(time.Duration(r.IntN(40)) * time.Second)
		}
		c.pass(10 * time.Minute)
		close(seen)
		c.register(limitedJob("default", "last", 1, 64))
		watch.Wait()
		s := c.Store().Snapshot()
		limits(s)
		waiting := 0
		for j := range s.Jobs() {
			e := s.BlockedEvaluation(j.Namespace, j.ID)
			if e == nil || e.QuotaLimitReached == "" {
				continue
			}
			waiting++
			whole, part, need := s.QuotaUsed("whole")["default"], s.QuotaUsed("part")["default"], j.Groups[0].QuotaUse()
			fits := whole.MemoryMB+need.MemoryMB <= 1500
			if strings.HasPrefix(j.Namespace, "a/") {
				fits = fits && part.Allocations+need.Allocations <= 7 && part.CPU+need.CPU <= 900
			}
			if fits && e.QueuedAllocations["web"] > 0 {
				t.Errorf("job %s/%s waits for %+v, and the usage is %+v, %+v", j.Namespace, j.ID, need, whole, part)
			}
		}
		if waiting == 0 {
			t.Error("no job waits for a quota: the test shows nothing")
		}
	})
}

// TestQuotasOutliveARestart gives a server that starts again a state in which a limit has risen since
// an evaluation began to wait.
func TestQuotasOutliveARestart(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := start(t, server.Config{DataDir: t.TempDir()})
		defer func() { c.close() }()
		c.addNode("n1", nil)
		c.limit("team", &api.QuotaResources{MemoryMB: ptr(128)}, "dev")
		c.register(limitedJob("dev", "web", 3, 64))
		c.until("one waits", func(s *state.Snapshot) bool {
			return counted(s, "dev", "web") == 2 && s.BlockedEvaluation("dev", "web") != nil
		})
		c.passDown(time.Second)
		s := c.Store().Snapshot()
		if got := s.QuotaUsed("team")["default"]; got.MemoryMB != 128 || got.Allocations != 2 {
			t.Errorf("the usage after a restart is %+v", got)
		}
		c.pass(time.Minute)
		if n := counted(c.Store().Snapshot(), "dev", "web"); n != 2 {
			t.Errorf("%d run after a restart", n)
		}
		c.limit("team", &api.QuotaResources{MemoryMB: ptr(192)})
		c.within(time.Second, "the third runs", func(s *state.Snapshot) bool { return counted(s, "dev", "web") == 3 })
	})
}
