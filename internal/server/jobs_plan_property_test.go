// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// drawJob draws a job named web, valid or not.
func drawJob(t *rapid.T) *api.Job {
	job := serviceJob("web", rapid.IntRange(-1, 3).Draw(t, "count"))
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		job = batchJob("web", 1)
	case 1:
		job = periodicJob("web", api.Periodic{Specs: []string{"@daily"}})
	case 2:
		job = parameterizedJob("web", api.Parameterized{Payload: api.PayloadOptional})
	case 3:
		job.Type, job.Groups[0].Count = api.JobTypeSystem, nil
	}
	job.Priority = rapid.SampledFrom([]int{0, 0, 50, 70}).Draw(t, "priority")
	if n := rapid.IntRange(0, 2).Draw(t, "meta"); n > 0 {
		job.Meta = map[string]string{"n": fmt.Sprint(n)}
	}
	if n := rapid.IntRange(0, 2).Draw(t, "command"); n > 0 {
		job = changed(job, fmt.Sprint(n))
	}
	if rapid.IntRange(0, 3).Draw(t, "groups") == 0 {
		second := job.Copy().Groups[0]
		second.Name = rapid.SampledFrom([]string{"second", "third", job.Groups[0].Name}).Draw(t, "group")
		job.Groups = append(job.Groups, second)
	}
	if rapid.IntRange(0, 9).Draw(t, "pool") == 0 {
		job.NodePool = "unknown"
	}
	// Clients register what they read: servers ignore these fields.
	if rapid.Bool().Draw(t, "read") {
		job.Stop, job.Version, job.Stable, job.JobModifyIndex = true, 7, true, 9
	}
	return job
}

// changeHistory makes one random change of the job's history.
func changeHistory(t *rapid.T, s *server.Server) {
	ctx, stored := t.Context(), s.Store().Snapshot().Job("default", "web")
	apply := func(c state.Command) error { return s.Store().Apply(s.Store().Index()+1, []state.Command{c})[0] }
	var err error
	switch op := rapid.IntRange(0, 9).Draw(t, "op"); {
	case op <= 2 || stored == nil:
		_, err = s.RegisterJob(ctx, &api.RegisterJobRequest{Job: drawJob(t)})
	case op == 3:
		_, err = s.DeregisterJob(ctx, "default", "web", server.DeregisterOptions{Purge: rapid.Bool().Draw(t, "purge")})
	case op == 4:
		_, err = s.SetJobStability(ctx, "default", "web", stored.Version, true)
	case op == 5:
		_, err = s.RevertJob(ctx, &api.RevertJobRequest{JobID: "web", JobVersion: rapid.Uint64Range(0, stored.Version).Draw(t, "version")})
	case op == 6:
		count := rapid.Int64Range(0, 3).Draw(t, "to")
		_, err = s.ScaleJob(ctx, "default", "web", &api.ScaleJobRequest{Count: &count, Target: map[string]string{"Group": stored.Groups[0].Name}})
	case op == 7:
		err = apply(&state.FailJob{Namespace: "default", ID: "web", JobModifyIndex: stored.JobModifyIndex, Reason: "it failed", Time: 5})
	case op == 8: // a job that another one started, as servers store it
		child := stored.Copy()
		child.ParentID, child.Dispatched, child.Payload, child.Stop = "parent", true, []byte("input"), false
		err = apply(&state.RegisterJob{Job: child})
	default: // an allocation that runs keeps a purged job
		a := &api.Allocation{
			ID: api.NewID(), Namespace: "default", JobID: "web", Job: stored, NodeID: "n", Group: stored.Groups[0].Name,
			Name: api.AllocName("web", stored.Groups[0].Name, 0), DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning,
		}
		err = apply(&state.CommitPlacement{Placement: &state.Placement{Job: stored, Place: []*api.Allocation{a}}})
	}
	if err != nil && api.CodeOf(err) == "" {
		t.Fatalf("change the history: %v", err)
	}
}

// TestPlanPredictsRegistration plans a random job after a random history, and
// registers it: the plan has the same errors, version, diff, indexes and evaluation.
func TestPlanPredictsRegistration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := server.New(server.Config{Logger: slog.New(slog.DiscardHandler)}) // never started: only the test writes
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 6).Draw(t, "changes") {
			changeHistory(t, s)
		}
		before := s.Store().Snapshot()
		stored := before.Job("default", "web")
		job := drawJob(t)
		if versions := before.JobVersions("default", "web"); len(versions) > 0 && rapid.Bool().Draw(t, "again") {
			job = rapid.SampledFrom(versions).Draw(t, "version").Copy()
		}

		plan, planErr := s.PlanJob(t.Context(), &api.PlanJobRequest{Job: job, Diff: true})
		if now := s.Store().Index(); now != before.Index() {
			t.Fatalf("planning moved the state from %d to %d", before.Index(), now)
		}
		req := &api.RegisterJobRequest{Job: job}
		if planErr == nil {
			req.EnforceIndex, req.JobModifyIndex = true, plan.JobModifyIndex
		}
		res, err := s.RegisterJob(t.Context(), req)
		if diff := cmp.Diff(fmt.Sprint(err), fmt.Sprint(planErr)); diff != "" {
			t.Fatalf("errors (-registered +planned):\n%s", diff)
		}
		if err != nil {
			return
		}
		now := s.Store().Snapshot()
		after := now.Job("default", "web")
		unannotated := cmpopts.IgnoreFields(api.GroupDiff{}, "Updates")
		if diff := cmp.Diff(api.DiffJobs(stored, after, true), plan.Diff, unannotated, cmpopts.IgnoreFields(api.TaskDiff{}, "Annotations")); diff != "" {
			t.Errorf("the diff (-registered +planned):\n%s", diff)
		}
		if isSame := stored != nil && stored.Version == after.Version; isSame != (plan.Diff.Type == api.DiffNone) {
			t.Errorf("registering made version %d, a new one: %t; the planned diff is %s", after.Version, !isSame, plan.Diff.Type)
		}
		if res.JobModifyIndex != after.JobModifyIndex || res.Index != now.Index() {
			t.Errorf("the response has indexes %d and %d, want %d and %d", res.JobModifyIndex, res.Index, after.JobModifyIndex, now.Index())
		}
		if !strings.HasPrefix(plan.Warnings, res.Warnings) {
			t.Errorf("planned warnings %q, registered %q", plan.Warnings, res.Warnings)
		}
		for _, p := range plan.Plans {
			if p.Name == api.PlanDeploy && p.JobVersion != after.Version {
				t.Errorf("plan %s is of version %d, want %d", p.Name, p.JobVersion, after.Version)
			}
		}
		if (len(plan.CreatedEvals) == 0) != (res.EvalID == "") {
			t.Fatalf("planned evaluations %v, registered %q", plan.CreatedEvals, res.EvalID)
		}
		if res.EvalID == "" {
			return
		}
		outcome := cmpopts.IgnoreFields(api.Evaluation{}, "ID", "Status", "CreateTime", "ModifyTime", "CreateIndex", "ModifyIndex",
			"AnnotatePlan", "Annotations", "FailedGroups", "QueuedAllocations")
		if diff := cmp.Diff(now.Evaluation(res.EvalID), plan.CreatedEvals[0], outcome); diff != "" {
			t.Errorf("the evaluation (-registered +planned):\n%s", diff)
		}
	})
}
