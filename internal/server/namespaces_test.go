// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// contentOf returns every object of a namespace, as JSON by its kind and id.
func contentOf(t testing.TB, s *state.Snapshot, ns string) map[string]string {
	t.Helper()
	all := map[string]string{}
	add := func(kind, id string, object any) {
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		all[kind+" "+id] = string(text)
	}
	for key, job := range s.JobsKnown(ns) {
		add("job", key.ID, job)
		add("versions", key.ID, s.JobVersions(ns, key.ID))
		add("submission", key.ID, s.Submission(ns, key.ID, 0))
		add("summary", key.ID, s.JobSummary(ns, key.ID))
		add("launches", key.ID, s.Launches(ns, key.ID))
		add("scaling", key.ID, s.ScalingEvents(ns, key.ID))
		add("decided", key.ID, s.Decided(ns, key.ID))
		add("decisions", key.ID, s.Decisions(ns, key.ID))
		for a := range s.AllocationsByJob(ns, key.ID) {
			add("allocation", a.ID, a)
		}
		for e := range s.EvaluationsByJob(ns, key.ID) {
			add("evaluation", e.ID, e)
		}
		for d := range s.DeploymentsByJob(ns, key.ID) {
			add("deployment", d.ID, d)
		}
		for r := range s.RestartsByJob(ns, key.ID) {
			add("restart", r.ID, r)
		}
		for c := range s.CallbacksByJob(ns, key.ID) {
			add("callback", c.ID, c)
		}
	}
	for u := range s.UninstalledJobs(ns) {
		add("uninstalled", u.JobID, u)
	}
	return all
}

// twins registers the same jobs in three namespaces, and waits until they run.
func (c *cluster) twins() (namespaces []string) {
	c.Helper()
	namespaces = []string{"default", "dev", "dev/sandbox"}
	for _, n := range []string{"n1", "n2", "n3"} {
		c.addNode(n, nil)
	}
	for _, ns := range namespaces {
		if _, err := c.PutNamespace(c.Context(), &api.Namespace{Name: ns}, nil); err != nil {
			c.Fatal(err)
		}
		for _, job := range []*api.Job{
			serviceJob("web", 3), parameterizedJob("import", api.Parameterized{}), periodicJob("yearly", api.Periodic{Specs: []string{"@yearly"}}),
		} {
			job.Namespace = ns
			c.register(job)
		}
	}
	c.pass(time.Minute)
	for _, ns := range namespaces {
		if got := c.runningIn(ns, "web"); len(got) != 3 {
			c.Fatalf("namespace %q runs %d instances, want 3\n%s", ns, len(got), describe(c.Store().Snapshot()))
		}
	}
	return namespaces
}

func (c *cluster) runningIn(ns, job string) (ids []string) {
	for a := range c.Store().Snapshot().AllocationsByJob(ns, job) {
		if a.ClientStatus == api.AllocClientRunning && !a.IsServerTerminal() {
			ids = append(ids, a.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// Jobs with one id in several namespaces are strangers: no verb on one of them changes a
// single object of the others.
func TestVerbsStayInTheirNamespace(t *testing.T) {
	simulate(t, func(c *cluster) {
		namespaces := c.twins()
		ctx := c.Context()
		const ns = "dev"
		job := serviceJob("web", 3)
		job.Namespace = ns
		for _, step := range []struct {
			verb string
			do   func() error
		}{
			{"register", func() error {
				_, err := c.RegisterJob(ctx, &api.RegisterJobRequest{Job: changed(job, "second")})
				return err
			}},
			{"scale", func() error {
				_, err := c.ScaleJob(ctx, ns, "web", &api.ScaleJobRequest{Count: ptr(int64(2)), Target: map[string]string{"Group": "web"}})
				return err
			}},
			{"revert", func() error {
				_, err := c.RevertJob(ctx, &api.RevertJobRequest{Namespace: ns, JobID: "web", JobVersion: 0})
				return err
			}},
			{"mark as stable", func() error {
				_, err := c.SetJobStability(ctx, ns, "web", 0, false)
				return err
			}},
			{"change in place", func() error {
				_, err := c.ChangeJob(ctx, ns, "web", &api.JobChange{Annotation: ptr("changed")})
				return err
			}},
			{"evaluate", func() error {
				_, err := c.EvaluateJob(ctx, ns, "web", false)
				return err
			}},
			{"restart", func() error {
				_, err := c.StartRestart(ctx, ns, "web", &api.JobRestartRequest{BatchSize: 1})
				return err
			}},
			{"interrupt a plan", func() error {
				if _, err := c.RegisterJob(ctx, &api.RegisterJobRequest{Job: changed(job, "third")}); err != nil {
					return err
				}
				_, err := c.PlanVerb(ctx, ns, "web", api.PlanDeploy, api.VerbInterrupt, &api.PlanRequest{})
				return err
			}},
			{"continue a plan", func() error {
				_, err := c.PlanVerb(ctx, ns, "web", api.PlanDeploy, api.VerbContinue, &api.PlanRequest{})
				return err
			}},
			{"kill an instance", func() error {
				_, err := c.KillInstance(ctx, ns, "web", "web-0", false)
				return err
			}},
			{"replace an instance", func() error {
				_, err := c.InstanceVerb(ctx, ns, "web", "web-1", api.VerbReplace, &api.InstanceRequest{})
				return err
			}},
			{"pause an instance", func() error {
				_, err := c.InstanceVerb(ctx, ns, "web", "web-1", api.VerbPause, &api.InstanceRequest{})
				return err
			}},
			{"resume an instance", func() error {
				_, err := c.InstanceVerb(ctx, ns, "web", "web-1", api.VerbResume, &api.InstanceRequest{})
				return err
			}},
			{"dispatch", func() error {
				_, err := c.DispatchJob(ctx, ns, "import", &api.DispatchJobRequest{IdempotencyToken: "token"})
				return err
			}},
			{"force a periodic job", func() error {
				_, err := c.ForcePeriodic(ctx, ns, "yearly")
				return err
			}},
			{"stop", func() error {
				_, err := c.DeregisterJob(ctx, ns, "web", server.DeregisterOptions{})
				return err
			}},
			{"purge", func() error {
				_, err := c.DeregisterJob(ctx, ns, "web", server.DeregisterOptions{Purge: true})
				return err
			}},
			{"register again", func() error {
				_, err := c.RegisterJob(ctx, &api.RegisterJobRequest{Job: job})
				return err
			}},
			{"purge a parent", func() error {
				_, err := c.DeregisterJob(ctx, ns, "import", server.DeregisterOptions{Purge: true})
				return err
			}},
		} {
			before := map[string]map[string]string{}
			for _, other := range namespaces {
				before[other] = contentOf(c, c.Store().Snapshot(), other)
			}
			if err := step.do(); err != nil {
				c.Errorf("%s: %v", step.verb, err)
			}
			c.pass(time.Minute)
			for _, other := range namespaces {
				diff := cmp.Diff(before[other], contentOf(c, c.Store().Snapshot(), other))
				if other == ns && diff == "" {
					c.Errorf("%s: nothing changed in its own namespace", step.verb)
				}
				if other != ns && diff != "" {
					c.Errorf("%s in namespace %q changed namespace %q (-before +after):\n%s", step.verb, ns, other, diff)
				}
			}
		}
	})
}

// An idempotency token and a child's id belong to one namespace.
func TestDispatchesOfTwoNamespacesAreDifferent(t *testing.T) {
	simulate(t, func(c *cluster) {
		seen := map[string]bool{}
		for _, ns := range c.twins() {
			for range 2 {
				res, err := c.DispatchJob(c.Context(), ns, "import", &api.DispatchJobRequest{IdempotencyToken: "token"})
				if err != nil {
					c.Fatal(err)
				}
				seen[ns+" "+res.DispatchedJobID] = true
			}
		}
		if len(seen) != 3 {
			c.Errorf("one token dispatched %v, want one child in each namespace", seen)
		}
	})
}

// Garbage of one namespace goes without the running jobs of the others.
func TestGarbageIsCollectedByNamespace(t *testing.T) {
	simulate(t, func(c *cluster) {
		namespaces := c.twins()
		before := map[string][]string{}
		for _, ns := range namespaces {
			before[ns] = c.runningIn(ns, "web")
		}
		if _, err := c.DeregisterJob(c.Context(), "dev", "web", server.DeregisterOptions{}); err != nil {
			c.Fatal(err)
		}
		c.pass(time.Minute)
		if err := c.CollectGarbage(c.Context()); err != nil {
			c.Fatal(err)
		}
		c.pass(24 * time.Hour)
		s := c.Store().Snapshot()
		for _, ns := range namespaces {
			want := before[ns]
			if ns == "dev" {
				want = nil
			}
			if diff := cmp.Diff(want, c.runningIn(ns, "web")); diff != "" {
				c.Errorf("namespace %q (-before +after):\n%s", ns, diff)
			}
			if gone := s.Job(ns, "web") == nil; gone != (ns == "dev") {
				c.Errorf("namespace %q: job web is gone: %t", ns, gone)
			}
		}
	})
}

// What the loss of a node replaces stays in its namespace, on nodes that are left.
func TestLostInstancesAreReplacedInTheirNamespace(t *testing.T) {
	simulate(t, func(c *cluster) {
		namespaces := c.twins()
		c.nodes["n1"].kill()
		c.pass(5 * time.Minute)
		for _, ns := range namespaces {
			if got := c.runningIn(ns, "web"); len(got) != 3 {
				c.Errorf("namespace %q runs %v, want 3 instances", ns, got)
			}
		}
		names := map[string]int{}
		for a := range c.Store().Snapshot().Allocations() {
			if a.JobID == "web" && a.ClientStatus == api.AllocClientRunning && !a.IsServerTerminal() && a.NodeID != "n1" {
				names[fmt.Sprint(a.Namespace, " ", a.Name)]++
			}
		}
		for name, n := range names {
			if n != 1 || len(names) != 9 {
				c.Errorf("%s runs %d times; %v", name, n, names)
			}
		}
	})
}

// A namespace can be deleted once its jobs are dead, and its dead jobs do not come back to
// life in it.
func TestJobsDoNotReturnToADeletedNamespace(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.twins()
		for _, id := range []string{"web", "import", "yearly"} {
			if _, err := c.DeregisterJob(c.Context(), "dev/sandbox", id, server.DeregisterOptions{}); err != nil {
				c.Fatal(err)
			}
		}
		c.pass(time.Minute)
		if _, err := c.DeleteNamespace(c.Context(), "dev/sandbox", nil); err != nil {
			c.Fatal(err)
		}
		for verb, do := range map[string]func() error{
			"revert": func() error {
				_, err := c.RevertJob(c.Context(), &api.RevertJobRequest{Namespace: "dev/sandbox", JobID: "web", JobVersion: 0})
				return err
			},
			"dispatch": func() error {
				_, err := c.DispatchJob(c.Context(), "dev/sandbox", "import", &api.DispatchJobRequest{})
				return err
			},
			"force": func() error {
				_, err := c.ForcePeriodic(c.Context(), "dev/sandbox", "yearly")
				return err
			},
		} {
			if err := do(); err == nil {
				c.Errorf("%s works in a namespace that was deleted", verb)
			}
		}
	})
}
