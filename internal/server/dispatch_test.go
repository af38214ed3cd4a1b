// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

func parameterizedJob(id string, p api.Parameterized) *api.Job {
	job := batchJob(id, 1)
	job.Parameterized = &p
	return job
}

func periodicJob(id string, p api.Periodic) *api.Job {
	job := batchJob(id, 1)
	job.Periodic = &p
	return job
}

// children returns the ids of a job's children, without the parent's.
func children(snap *state.Snapshot, parent string) (ids []string) {
	for j := range snap.JobsPrefix("default", parent+"/") {
		ids = append(ids, strings.TrimPrefix(j.ID, parent))
	}
	return ids
}

func TestDispatchedJobsRun(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		if res := c.register(parameterizedJob("import", api.Parameterized{MetaRequired: []string{"day"}})); res.EvalID != "" {
			c.Errorf("registering made evaluation %s, want none", res.EvalID)
		}
		res, err := c.DispatchJob(c.Context(), "default", "import", &api.DispatchJobRequest{
			Meta: map[string]string{"day": "monday"}, Payload: []byte("input"), Priority: 70,
		})
		if err != nil {
			c.Fatal(err)
		}
		c.until("the child has run", func(s *state.Snapshot) bool {
			j := s.Job("default", res.DispatchedJobID)
			return j.Status == api.JobStatusDead
		})
		s := c.Store().Snapshot()
		e := s.Evaluation(res.EvalID)
		if e.JobID != res.DispatchedJobID || e.TriggeredBy != api.TriggerJobDispatch || e.Priority != 70 || e.Status != api.EvalStatusComplete {
			c.Errorf("evaluation %+v", e)
		}
		for a := range s.AllocationsByJob("default", res.DispatchedJobID) {
			if string(a.Job.Payload) != "input" || a.Job.Meta["day"] != "monday" {
				c.Errorf("allocation of a job with payload %q and meta %v", a.Job.Payload, a.Job.Meta)
			}
		}
		if n := s.ChildrenCount("default", "import"); n != (api.JobChildrenSummary{Dead: 1}) {
			c.Errorf("the parent counts %+v", n)
		}
	})
}

func TestDispatchRefusesInWords(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.register(parameterizedJob("import", api.Parameterized{Payload: api.PayloadForbidden, MetaRequired: []string{"day"}, MetaOptional: []string{"size"}}))
		c.register(batchJob("plain", 1))
		for _, tt := range []struct {
			job  string
			req  api.DispatchJobRequest
			code api.ErrorCode
			want []string
		}{
			{"nope", api.DispatchJobRequest{}, api.CodeNotFound, []string{`job "nope" not found`}},
			{"plain", api.DispatchJobRequest{}, api.CodeInvalid, []string{"is not parameterized"}},
			{"import", api.DispatchJobRequest{Meta: map[string]string{"dya": "x"}, Payload: []byte("x"), IdPrefixTemplate: "a b", Priority: 101}, api.CodeInvalid, []string{
				`meta "day" is missing`, `meta "dya" is unknown: the parameterized block names day, size`, "payload", "forbidden", `id prefix "a b"`, "priority 101",
			}},
			{"import", api.DispatchJobRequest{Meta: map[string]string{"day": "x"}, Payload: make([]byte, 16<<10+1)}, api.CodeInvalid, []string{"16385 bytes; at most 16384"}},
		} {
			_, err := c.DispatchJob(c.Context(), "default", tt.job, &tt.req)
			if api.CodeOf(err) != tt.code {
				c.Errorf("dispatch %s: error %v, want code %s", tt.job, err, tt.code)
				continue
			}
			for _, words := range tt.want {
				if !strings.Contains(err.Error(), words) {
					c.Errorf("dispatch %s: error %q, want %q in it", tt.job, err, words)
				}
			}
		}
		if ids := children(c.Store().Snapshot(), "import"); len(ids) > 0 {
			c.Errorf("refused dispatches made %v", ids)
		}
	})
}

// TestAnIdempotencyTokenMakesOneChild has many clients dispatch with few
// tokens at once, while somebody registers the parent again and again.
func TestAnIdempotencyTokenMakesOneChild(t *testing.T) {
	c := start(t, server.Config{DataDir: t.TempDir()})
	defer c.close()
	parent := parameterizedJob("import", api.Parameterized{})
	c.register(parent)
	var mu sync.Mutex
	answers := map[string]map[string]bool{}
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			token := fmt.Sprint("token-", i%4)
			res, err := c.DispatchJob(c.Context(), "default", "import", &api.DispatchJobRequest{IdempotencyToken: token})
			if err != nil {
				if api.CodeOf(err) != api.CodeConflict { // it was registered again five times meanwhile
					c.Error(err)
				}
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if answers[token] == nil {
				answers[token] = map[string]bool{}
			}
			answers[token][res.DispatchedJobID] = true
		})
	}
	for i := range 5 {
		c.register(changed(parent, fmt.Sprint("v", i)))
	}
	wg.Wait()
	for token, ids := range answers {
		if len(ids) != 1 {
			c.Errorf("%s was answered with %v, want one child", token, ids)
		}
	}
	if ids := children(c.Store().Snapshot(), "import"); len(ids) != 4 {
		c.Errorf("children %v, want 4", ids)
	}
}

func TestAPeriodicJobRunsUntilItIsStopped(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		began := time.Now()
		c.register(periodicJob("hourly", api.Periodic{Specs: []string{"@hourly"}}))
		c.pass(3*time.Hour + time.Minute)
		want := []string{}
		for i := range 3 {
			due := began.Truncate(time.Hour).Add(time.Duration(i+1) * time.Hour)
			want = append(want, strings.TrimPrefix(api.PeriodicChildID("hourly", due), "hourly"))
		}
		s := c.Store().Snapshot()
		if diff := cmp.Diff(want, children(s, "hourly")); diff != "" {
			c.Errorf("children (-want +got):\n%s", diff)
		}
		if n := s.ChildrenCount("default", "hourly"); n.Dead != 3 {
			c.Errorf("the parent counts %+v, want 3 that ran", n)
		}
		if _, err := c.DeregisterJob(c.Context(), "default", "hourly", server.DeregisterOptions{}); err != nil {
			c.Fatal(err)
		}
		c.pass(5 * time.Hour)
		if ids := children(c.Store().Snapshot(), "hourly"); len(ids) > 3 {
			c.Errorf("children %v: a stopped job was started", ids)
		}
	})
}

func TestForcingAPeriodicJob(t *testing.T) {
	simulate(t, func(c *cluster) {
		yes := true
		c.register(periodicJob("nightly", api.Periodic{Specs: []string{"@daily"}, ProhibitOverlap: &yes}))
		for range 3 { // no node: none of them ends, and all within one second
			if _, err := c.ForcePeriodic(c.Context(), "default", "nightly"); err != nil {
				c.Fatal(err)
			}
		}
		ids := children(c.Store().Snapshot(), "nightly")
		if len(ids) != 3 || len(slices.Compact(ids)) != 3 {
			c.Errorf("children %v, want 3", ids)
		}
		c.pass(25 * time.Hour)
		s := c.Store().Snapshot()
		if ids := children(s, "nightly"); len(ids) != 3 || s.Launches("default", "nightly").Skipped.IsZero() {
			c.Errorf("children %v, launches %+v: want midnight passed over", ids, s.Launches("default", "nightly"))
		}
		c.register(batchJob("plain", 1))
		if _, err := c.ForcePeriodic(c.Context(), "default", "plain"); api.CodeOf(err) != api.CodeInvalid {
			c.Errorf("forcing a job that is not periodic: %v", err)
		}
	})
}

func TestGarbageOfChildrenGoesAndParentsStay(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		c.register(parameterizedJob("import", api.Parameterized{}))
		for range 3 {
			if _, err := c.DispatchJob(c.Context(), "default", "import", &api.DispatchJobRequest{}); err != nil {
				c.Fatal(err)
			}
		}
		c.pass(3 * time.Hour)
		if ids := children(c.Store().Snapshot(), "import"); len(ids) != 3 {
			c.Errorf("after 3 hours there are %v, want all", ids)
		}
		c.pass(2 * time.Hour)
		s := c.Store().Snapshot()
		if ids := children(s, "import"); len(ids) > 0 || s.AllocationCount() > 0 || s.Job("default", "import") == nil {
			c.Errorf("after 5 hours:\n%s", describe(s))
		}
		c.register(batchJob("now", 1))
		c.until("it ran", func(s *state.Snapshot) bool { return s.Job("default", "now").Status == api.JobStatusDead })
		if err := c.CollectGarbage(c.Context()); err != nil {
			c.Fatal(err)
		}
		if s := c.Store().Snapshot(); s.Job("default", "now") != nil || s.AllocationCount() > 0 {
			c.Errorf("after collecting everything:\n%s", describe(s))
		}
	})
}

// BenchmarkDispatch dispatches a large job, durably, beside BenchmarkRegister.
func BenchmarkDispatch(b *testing.B) {
	for _, clients := range []int{1, 64} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			c := start(b, server.Config{DataDir: b.TempDir()})
			defer c.close()
			parent := parameterizedJob("import", api.Parameterized{MetaOptional: []string{"n"}})
			parent.Groups[0].Tasks[0].Env = map[string]string{"PADDING": strings.Repeat("x", 10_000)}
			c.register(parent)
			var next atomic.Int64
			took := make([]time.Duration, b.N)
			b.ResetTimer()
			var wg sync.WaitGroup
			for range clients {
				wg.Go(func() {
					for i := int(next.Add(1)) - 1; i < b.N; i = int(next.Add(1)) - 1 {
						began := time.Now()
						req := &api.DispatchJobRequest{Meta: map[string]string{"n": fmt.Sprint(i)}, Payload: make([]byte, 100)}
						if _, err := c.DispatchJob(b.Context(), "default", "import", req); err != nil {
							b.Error(err)
							return
						}
						took[i] = time.Since(began)
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			report(b, took)
			stats := c.Replica().Stats()
			b.ReportMetric(float64(stats.Entries)/float64(b.N), "entries/job")
		})
	}
}
