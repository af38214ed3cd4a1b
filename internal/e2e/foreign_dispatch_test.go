// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	nomad "github.com/hashicorp/nomad/api"
)

// foreignBatch is a batch job whose task runs a script.
func foreignBatch(id, script string) *nomad.Job {
	job := foreignJob(id, "", 1)
	job.Type = ptr(nomad.JobTypeBatch)
	job.TaskGroups[0].Update = nil
	job.TaskGroups[0].Tasks[0].Config["args"] = []string{"-c", script}
	return job
}

// log reads what the only allocation of a job said.
func (f *foreign) log(job string) string {
	f.t.Helper()
	var said string
	f.eventually(job+" has run", func(context.Context) error {
		all, err := f.allocationsOf(job)
		if err != nil {
			return err
		}
		if len(all) != 1 || all[0].ClientStatus != "complete" {
			return fmt.Errorf("%d allocations, of which the first is not complete", len(all))
		}
		alloc, _, err := f.api.Allocations().Info(all[0].ID, nil)
		if err != nil {
			return err
		}
		stop := make(chan struct{})
		defer close(stop)
		frames, errs := f.api.AllocFS().Logs(alloc, false, "main", "stdout", "start", 0, stop, nil)
		for {
			select {
			case frame, ok := <-frames:
				if !ok {
					return nil
				}
				said += string(frame.Data)
			case err := <-errs:
				return err
			}
		}
	})
	return strings.TrimSpace(said)
}

func TestForeignClientDispatches(t *testing.T) {
	f := newForeign(t)
	jobs := f.api.Jobs()
	job := foreignBatch("import", `echo "$NOMAD_META_day: $(cat local/in/put), of $NOMAD_JOB_PARENT_ID"`)
	job.ParameterizedJob = &nomad.ParameterizedJobConfig{Payload: "required", MetaRequired: []string{"day"}}
	job.TaskGroups[0].Tasks[0].DispatchPayload = &nomad.DispatchPayloadConfig{File: "in/put"}
	if _, _, err := jobs.Register(job, nil); err != nil {
		t.Fatal(err)
	}
	resp, meta, err := jobs.DispatchOpts(&nomad.DispatchOptions{
		JobID: "import", Meta: map[string]string{"day": "monday"}, Payload: []byte("apples"), IdPrefixTemplate: "fruit", Priority: 60,
	}, &nomad.WriteOptions{IdempotencyToken: "once"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(resp.DispatchedJobID, "import/dispatch-fruit-") || resp.EvalID == "" || resp.EvalCreateIndex == 0 || meta.LastIndex == 0 {
		t.Errorf("dispatching answered %+v at index %d", resp, meta.LastIndex)
	}
	again, _, err := jobs.Dispatch("import", map[string]string{"day": "monday"}, []byte("apples"), "", &nomad.WriteOptions{IdempotencyToken: "once"})
	if err != nil || again.DispatchedJobID != resp.DispatchedJobID {
		t.Errorf("the same token again: %+v, %v; want job %s", again, err, resp.DispatchedJobID)
	}
	if _, _, err := jobs.Dispatch("import", nil, nil, "", nil); err == nil || !strings.Contains(err.Error(), "400") || !strings.Contains(err.Error(), `meta "day" is missing`) {
		t.Errorf("without what is required: %v", err)
	}
	if said := f.log(resp.DispatchedJobID); said != "monday: apples, of import" {
		t.Errorf("the task said %q", said)
	}
	child, _, err := jobs.Info(resp.DispatchedJobID, nil)
	if err != nil {
		t.Fatal(err)
	}
	if *child.ParentID != "import" || !child.Dispatched || child.IsParameterized() || string(child.Payload) != "apples" || *child.Priority != 60 || child.Meta["day"] != "monday" {
		t.Errorf("the dispatched job is %+v", child)
	}
	var payload struct{ Payload []byte }
	if _, err := f.api.Raw().Query("/v1/job/"+resp.DispatchedJobID+"/dispatch/payload", &payload, nil); err != nil || string(payload.Payload) != "apples" {
		t.Errorf("the payload is read as %q, %v", payload.Payload, err)
	}
	summary, _, err := jobs.Summary("import", nil)
	if err != nil || summary.Children == nil || summary.Children.Dead+summary.Children.Running != 1 {
		t.Errorf("the parent's summary is %+v, %v", summary, err)
	}
	list, _, err := jobs.PrefixList("import")
	if err != nil || len(list) != 2 || !list[0].ParameterizedJob || list[1].ParentID != "import" {
		t.Errorf("the list holds %+v, %v", list, err)
	}
}

func TestForeignClientForcesPeriodicJobs(t *testing.T) {
	f := newForeign(t)
	jobs := f.api.Jobs()
	job := foreignBatch("nightly", `echo "$NOMAD_JOB_ID"`)
	job.Periodic = &nomad.PeriodicConfig{Specs: []string{"@daily"}, SpecType: ptr(nomad.PeriodicSpecCron), TimeZone: ptr("Europe/Berlin"), ProhibitOverlap: ptr(true)}
	plan, _, err := jobs.Plan(job, true, nil)
	if err != nil || plan.NextPeriodicLaunch.Before(time.Now()) || len(plan.FailedTGAllocs) > 0 {
		t.Errorf("the plan is %+v, %v", plan, err)
	}
	if resp, _, err := jobs.Register(job, nil); err != nil || resp.EvalID != "" {
		t.Fatalf("registering answered %+v, %v", resp, err)
	}
	evalID, _, err := jobs.PeriodicForce("nightly", nil)
	if err != nil {
		t.Fatal(err)
	}
	eval, _, err := f.api.Evaluations().Info(evalID, nil)
	if err != nil || eval.TriggeredBy != "periodic-job" || !strings.HasPrefix(eval.JobID, "nightly/periodic-") {
		t.Fatalf("the evaluation is %+v, %v", eval, err)
	}
	if said := f.log(eval.JobID); said != eval.JobID {
		t.Errorf("the task of %s said %q", eval.JobID, said)
	}
	if _, _, err := jobs.PeriodicForce(eval.JobID, nil); err == nil {
		t.Error("a child was forced")
	}
	stored, _, err := jobs.Info("nightly", nil)
	if err != nil || !stored.IsPeriodic() || *stored.Periodic.TimeZone != "Europe/Berlin" {
		t.Errorf("the stored job is %+v, %v", stored, err)
	}
	if err := f.api.System().GarbageCollect(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := jobs.Info(eval.JobID, nil); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a child that ended is %v after collecting, want it gone", err)
	}
}

func TestForeignClientReadsScalingPolicies(t *testing.T) {
	f := newForeign(t)
	job := foreignJob("web", "hello", 2)
	job.TaskGroups[0].Scaling = &nomad.ScalingPolicy{
		Min: ptr(int64(1)), Max: ptr(int64(3)), Enabled: ptr(true), Policy: map[string]any{"cooldown": "1m", "check": []any{map[string]any{"query": "cpu"}}},
	}
	f.registerJob(job)
	scaling := f.api.Scaling()
	list, meta, err := scaling.ListPolicies(&nomad.QueryOptions{Params: map[string]string{"job": "web", "type": "horizontal"}})
	if err != nil || len(list) != 1 || meta.LastIndex == 0 {
		t.Fatalf("policies %v at index %d, %v; want one", list, meta.LastIndex, err)
	}
	target := map[string]string{"Namespace": "default", "Job": "web", "Group": "web"}
	if p := list[0]; !p.Enabled || p.Type != "horizontal" || !cmp.Equal(p.Target, target) || p.CreateIndex == 0 {
		t.Errorf("the policy is %+v", p)
	}
	policy, _, err := scaling.GetPolicy(list[0].ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	if *policy.Min != 1 || *policy.Max != 3 || policy.Namespace != "default" || policy.Policy["cooldown"] != "1m" || !cmp.Equal(policy.Target, target) {
		t.Errorf("the policy is %+v", policy)
	}
	if _, _, err := f.api.Jobs().Scale("web", "web", ptr(4), "too many", false, nil, nil); err == nil || !strings.Contains(err.Error(), "no more than 3") {
		t.Errorf("scaling beyond the bounds: %v", err)
	}
	if _, _, err := f.api.Jobs().Scale("web", "web", ptr(3), "more", false, nil, nil); err != nil {
		t.Errorf("scaling within the bounds: %v", err)
	}
	after, _, err := scaling.GetPolicy(list[0].ID, nil)
	if err != nil || after.ID != policy.ID || after.ModifyIndex < policy.ModifyIndex {
		t.Errorf("the policy after scaling is %+v, %v", after, err)
	}
}
