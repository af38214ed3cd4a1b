// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

func TestWhatIsNotPlacedInTimeHasFailed(t *testing.T) {
	r := &receiver{}
	simulateWith(t, r, func(c *cluster) {
		job := callingJob("late")
		job.MaxPending = ptr(10 * time.Minute)
		registered := time.Now()
		c.register(job)
		c.pass(10*time.Minute - time.Millisecond)
		if j := c.Store().Snapshot().Job("default", "late"); j.Failure != nil || j.Status != api.JobStatusPending {
			c.Fatalf("a moment before its time the job is %s, failure %+v", j.Status, j.Failure)
		}
		c.pass(time.Second)
		s := c.Store().Snapshot()
		j := s.Job("default", "late")
		if j.Failure == nil || j.Status != api.JobStatusDead || time.Unix(0, j.Failure.Time).Sub(registered) > 10*time.Minute+time.Millisecond {
			c.Fatalf("after its time the job is %s, failure %+v", j.Status, j.Failure)
		}
		if want := "instance work-0 and another one were not placed within max_pending of 10m0s: "; !strings.HasPrefix(j.Failure.Reason, want) {
			c.Errorf("the reason is %q, want %q", j.Failure.Reason, want)
		}
		if e := s.BlockedEvaluation("default", "late"); e != nil {
			c.Errorf("evaluation %s still waits", e.ID)
		}
		// A node that comes now changes nothing; registering it again does.
		c.addNode("n1", nil)
		c.pass(time.Hour)
		if n := c.Store().Snapshot().AllocationCount(); n != 0 {
			c.Errorf("%d allocations of a job that has failed", n)
		}
		if r.count() != 1 || r.said[0].State != api.CompletionFailed || r.said[0].FailureReason != j.Failure.Reason {
			c.Errorf("%d were told: %+v", r.count(), r.said)
		}
		c.register(job)
		c.until("it ran", func(s *state.Snapshot) bool {
			j := s.Job("default", "late")
			return j.Status == api.JobStatusDead && j.Failure == nil && s.AllocationCount() == 2
		})
		c.pass(time.Minute)
		if r.count() != 2 || r.said[1].State != api.CompletionComplete {
			c.Errorf("%d were told: %+v", r.count(), r.said)
		}
	})
}

// TestMaxPendingOfWhatIsStartedByOthers is about dispatched children, and those of
// a schedule: each has its own time.
func TestMaxPendingOfWhatIsStartedByOthers(t *testing.T) {
	simulate(t, func(c *cluster) {
		parent := parameterizedJob("import", api.Parameterized{})
		parent.MaxPending = ptr(time.Minute)
		c.register(parent)
		hourly := periodicJob("hourly", api.Periodic{Specs: []string{"@hourly"}})
		hourly.MaxPending = ptr(time.Minute)
		c.register(hourly)
		c.pass(10 * time.Minute)
		res, err := c.DispatchJob(c.Context(), "default", "import", &api.DispatchJobRequest{})
		if err != nil {
			c.Fatal(err)
		}
		c.pass(59 * time.Second)
		if j := c.Store().Snapshot().Job("default", res.DispatchedJobID); j.Failure != nil {
			c.Errorf("before its time the child failed: %+v", j.Failure)
		}
		c.pass(2 * time.Hour)
		s := c.Store().Snapshot()
		for _, id := range append(children(s, "import"), children(s, "hourly")...) {
			parent := "import"
			if strings.HasPrefix(id, "/periodic") {
				parent = "hourly"
			}
			if j := s.Job("default", parent+id); j.Failure == nil || j.Status != api.JobStatusDead {
				c.Errorf("%s is %s, failure %+v", j.ID, j.Status, j.Failure)
			}
		}
		if n := s.ChildrenCount("default", "hourly"); n.Dead != 2 {
			c.Errorf("the schedule's children are %+v", n)
		}
		if j := s.Job("default", "import"); j.Failure != nil || j.Status != api.JobStatusRunning {
			c.Errorf("the parent is %s, failure %+v", j.Status, j.Failure)
		}
	})
}

// TestWhatRunsGoesOnWhenTheRestHasFailed has room for ten of twelve instances.
func TestWhatRunsGoesOnWhenTheRestHasFailed(t *testing.T) {
	r := &receiver{}
	simulateWith(t, r, func(c *cluster) {
		c.addNode("n1", func(*api.Allocation, *api.Job) []event {
			return []event{{status: api.AllocClientRunning}, {after: time.Hour, status: api.AllocClientComplete}}
		})
		job := callingJob("many")
		job.Groups[0].Count, job.MaxPending = ptr(12), ptr(time.Minute)
		c.register(job)
		c.pass(30 * time.Minute)
		s := c.Store().Snapshot()
		if j := s.Job("default", "many"); len(running(s, "many")) != 10 || j.Failure == nil || j.Status != api.JobStatusRunning || r.count() != 0 {
			c.Fatalf("%d run, the job is %s, failure %+v, %d requests", len(running(s, "many")), j.Status, j.Failure, r.count())
		}
		c.pass(time.Hour)
		s = c.Store().Snapshot()
		if s.AllocationCount() != 10 || r.count() != 1 || r.said[0].State != api.CompletionFailed || len(r.said[0].Tasks) != 12 {
			c.Errorf("%d allocations, told: %+v", s.AllocationCount(), r.said)
		}
		if sum := s.JobSummary("default", "many").Summary["work"]; sum.Queued != 0 || sum.Complete != 10 {
			c.Errorf("the summary is %+v", sum)
		}
	})
}

// TestMaxPendingSurvivesItsServer closes the server before the time, and starts
// it after it.
func TestMaxPendingSurvivesItsServer(t *testing.T) {
	dir := t.TempDir()
	c := start(t, server.Config{DataDir: dir})
	job := batchJob("late", 1)
	job.MaxPending = ptr(300 * time.Millisecond)
	c.register(job)
	c.close()
	c = start(t, server.Config{DataDir: dir})
	defer c.close()
	c.until("it has failed", func(s *state.Snapshot) bool {
		j := s.Job("default", "late")
		return j.Failure != nil && j.Status == api.JobStatusDead
	})
}

// refusing is a node that has no room for directories.
func refusing(refused *atomic.Int32) func(*api.Allocation, *api.Job) []event {
	return func(*api.Allocation, *api.Job) []event {
		refused.Add(1)
		return []event{{status: api.AllocClientFailed}}
	}
}

func TestNodesThatRefuseAreCounted(t *testing.T) {
	for name, tt := range map[string]struct {
		allowed *int
		nodes   int // that refuse
		good    bool
		tries   int
	}{
		"none will":           {nil, 5, false, 4},
		"none is put up with": {ptr(0), 2, false, 1},
		"another one will":    {nil, 1, true, 1},
	} {
		r := &receiver{}
		simulateWith(t, r, func(c *cluster) {
			var refused atomic.Int32
			for i := range tt.nodes {
				c.addNode("bad-"+string(rune('a'+i)), refusing(&refused))
			}
			job := callingJob("picky")
			job.Groups[0].Count, job.MaxRejections = ptr(1), tt.allowed
			c.register(job)
			if tt.good {
				c.until(name+": it was refused", func(*state.Snapshot) bool { return r.count() >= 0 })
				c.addNode("good", nil)
			}
			c.pass(time.Hour)
			s := c.Store().Snapshot()
			if len(r.said) != 1 {
				c.Fatalf("%s: %d were told\n%s", name, len(r.said), describe(s))
			}
			said := r.said[0]
			if said.Failed == tt.good || !tt.good && (int(refused.Load()) != tt.tries || said.Rejections != tt.tries) {
				c.Errorf("%s: after %d refusals %+v", name, refused.Load(), said)
			}
			if !tt.good && tt.tries > 1 && !strings.Contains(said.FailureReason, "nodes refused 4 times to run it; the last one: ") {
				c.Errorf("%s: the reason is %q", name, said.FailureReason)
			}
		})
	}
}
