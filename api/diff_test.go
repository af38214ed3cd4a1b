// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sketch writes a diff as indented lines, to compare with what a test expects.
func sketch(d *JobDiff) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s job %s\n", d.Type, d.ID)
	sketchBlocks(&b, "  ", d.Fields, d.Objects)
	for _, g := range d.Groups {
		fmt.Fprintf(&b, "  %s group %s\n", g.Type, g.Name)
		sketchBlocks(&b, "    ", g.Fields, g.Objects)
		for _, t := range g.Tasks {
			fmt.Fprintf(&b, "    %s task %s\n", t.Type, t.Name)
			sketchBlocks(&b, "      ", t.Fields, t.Objects)
		}
	}
	return b.String()
}

func sketchBlocks(b *strings.Builder, indent string, fields []*FieldDiff, objects []*ObjectDiff) {
	for _, f := range fields {
		fmt.Fprintf(b, "%s%s %s: %q -> %q\n", indent, f.Type, f.Name, f.Old, f.New)
	}
	for _, o := range objects {
		fmt.Fprintf(b, "%s%s %s\n", indent, o.Type, o.Name)
		sketchBlocks(b, indent+"  ", o.Fields, o.Objects)
	}
}

func TestDiffJobs(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*Job)
		want   string
	}{
		{"nothing", func(j *Job) { j.Version, j.Stable = 3, true }, "None job web\n"},
		{"failure and hold", func(j *Job) { j.Failure, j.Held, j.HeldReason = &JobFailure{Reason: "exit code 1", Time: 5}, true, "a" }, "None job web\n"},
		{"started by another job", func(j *Job) { j.ParentID, j.Dispatched, j.DispatchIdempotencyToken = "batch", true, "t" }, `Edited job web
  Added DispatchIdempotencyToken: "" -> "t"
  Edited Dispatched: "false" -> "true"
  Added ParentID: "" -> "batch"
`},
		{"count", func(j *Job) { j.Groups[0].Count = ptr(3) }, `Edited job web
  Edited group site
    Edited Count: "2" -> "3"
`},
		{"job level", func(j *Job) {
			j.Priority = 70
			j.Meta["owner"], j.Meta["tier"] = "dev", "1"
			j.Datacenters = []string{"dc1", "*"}
		}, `Edited job web
  Edited Meta[owner]: "ops" -> "dev"
  Added Meta[tier]: "" -> "1"
  Edited Priority: "50" -> "70"
  Edited Datacenters
    Added Datacenters: "" -> "dc1"
`},
		{"task", func(j *Job) {
			task := j.Groups[0].Tasks[0]
			task.Config["args"] = []any{"-v", "-p", 80}
			task.Env["COLOR"] = "red"
			*task.Resources.CPU = 500
			*task.KillTimeout *= 2
		}, `Edited job web
  Edited group site
    Edited task server
      Edited Env[COLOR]: "blue" -> "red"
      Edited KillTimeout: "5s" -> "10s"
      Edited Config
        Added args[1]: "" -> "-p"
        Added args[2]: "" -> "80"
      Edited Resources
        Edited CPU: "100" -> "500"
`},
		{"check and port", func(j *Job) {
			j.Groups[0].Services[0].Checks[0].Path = "/ready"
			j.Groups[0].Networks[0].DynamicPorts = append(j.Groups[0].Networks[0].DynamicPorts, Port{Label: "admin", To: 9000})
		}, `Edited job web
  Edited group site
    Edited Networks
      Added DynamicPorts
        Added IgnoreCollision: "" -> "false"
        Added Label: "" -> "admin"
        Added To: "" -> "9000"
        Added Value: "" -> "0"
    Edited Services
      Edited Checks
        Edited Path: "/healthz" -> "/ready"
`},
		{"constraints are a set", func(j *Job) {
			j.Constraints = []*Constraint{{LTarget: "${attr.kernel.name}", RTarget: "linux", Operand: "="}}
		}, `Edited job web
  Added Constraints
    Added LTarget: "" -> "${attr.kernel.name}"
    Added Operand: "" -> "="
    Added RTarget: "" -> "linux"
`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			after := canonical()
			tc.change(after)
			if diff := cmp.Diff(tc.want, sketch(DiffJobs(canonical(), after, false))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDiffOfNewAndStoppedJob(t *testing.T) {
	added := DiffJobs(nil, canonical(), false)
	if added.Type != DiffAdded || len(added.Groups) != 2 || added.Groups[0].Tasks[0].Type != DiffAdded {
		t.Errorf("a new job: %s", sketch(added))
	}
	if gone := DiffJobs(canonical(), nil, false); gone.Type != DiffDeleted || gone.ID != "web" {
		t.Errorf("a removed job: %s", sketch(gone))
	}
}

// As Nomad shows changes: every group and task by name, and the neighbours of what
// changed within a block; nothing else that stayed, and no key of ours that nobody
// set.
func TestContextualDiffShowsNeighbours(t *testing.T) {
	after := canonical()
	after.Priority = 60
	*after.Groups[0].Tasks[0].Resources.CPU = 500
	*after.Groups[0].Update.MaxParallel = 2
	want := `Edited job web
  Edited Priority: "50" -> "60"
  Edited group site
    Edited Update
      None AutoPromote: "false" -> "false"
      None AutoRevert: "false" -> "false"
      None Canary: "0" -> "0"
      None HealthCheck: "checks" -> "checks"
      None HealthyDeadline: "5m0s" -> "5m0s"
      Edited MaxParallel: "1" -> "2"
      None MinHealthyTime: "10s" -> "10s"
      None ProgressDeadline: "10m0s" -> "10m0s"
      None Stagger: "30s" -> "30s"
    Edited task server
      Edited Resources
        Edited CPU: "100" -> "500"
        None Cores: "0" -> "0"
        None MemoryMB: "300" -> "300"
        None MemoryMaxMB: "0" -> "0"
  None group worker
    None task work
`
	if diff := cmp.Diff(want, sketch(DiffJobs(canonical(), after, true))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	plain := sketch(DiffJobs(canonical(), after, false))
	if strings.Contains(plain, "None") {
		t.Errorf("without context:\n%s", plain)
	}
	if same := sketch(DiffJobs(canonical(), canonical(), true)); strings.Contains(same, ": ") || strings.Contains(same, "Edited") {
		t.Errorf("of a job that did not change:\n%s", same)
	}
}

func TestDiffOfNewJobLeavesOutWhatNobodyWrote(t *testing.T) {
	got := sketch(DiffJobs(nil, canonical(), true))
	for _, own := range []string{"Immediate", "Goal", "Daemon", "Domain", "Fate"} {
		if strings.Contains(got, own) {
			t.Errorf("the diff has %s, which nobody wrote:\n%s", own, got)
		}
	}
	after := canonical()
	after.Domain = "shop"
	got = sketch(DiffJobs(canonical(), after, true))
	if own := `Added Domain: "" -> "shop"`; !strings.Contains(got, own) {
		t.Errorf("the diff lacks %s:\n%s", own, got)
	}
}
