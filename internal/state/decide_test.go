// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// decisions is a store with one job, and verbs on its plans.
type decisions struct {
	*testing.T
	*Store
	made int
}

func newDecisions(t *testing.T) *decisions {
	d := &decisions{T: t, Store: New()}
	d.ok(&RegisterJob{Job: testJob("web")})
	return d
}

func (d *decisions) apply(c Command) error {
	d.Helper()
	decoded, err := DecodeCommands(EncodeCommands([]Command{c}))
	if err != nil {
		d.Fatal(err)
	}
	return d.Apply(d.Index()+1, decoded)[0]
}

func (d *decisions) ok(c Command) {
	d.Helper()
	if err := d.apply(c); err != nil {
		d.Fatalf("%s: %v", c.Name(), err)
	}
}

func (d *decisions) refused(c Command, words string) {
	d.Helper()
	before := dumpOf(d.Snapshot()).text(d)
	err := d.apply(c)
	var e *api.Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), words) {
		d.Errorf("%s: got error %v, want one with %q", c.Name(), err, words)
	}
	after := dumpOf(d.Snapshot())
	after.Index--
	if diff := cmp.Diff(before, after.text(d)); diff != "" {
		d.Errorf("%s was refused and changed something:\n%s", c.Name(), diff)
	}
}

func (d *decisions) job() *api.Job { return d.Snapshot().Job("default", "web") }

// decide is a decision on what the job is now.
func (d *decisions) decide(change func(*api.Decision)) *Decide {
	d.made++
	job := d.job()
	decision := &api.Decision{
		ID: fmt.Sprintf("d%d", d.made), Namespace: "default", JobID: "web", JobCreateIndex: job.CreateIndex, JobVersion: job.Version,
		Verb: api.VerbContinue, Plan: api.PlanDeploy, By: "ann",
	}
	change(decision)
	return &Decide{Decision: decision, After: newestDecision(d.Snapshot().Decisions("default", "web"))}
}

func (d *decisions) ids() (ids []string) {
	for _, decision := range d.Snapshot().Decisions("default", "web") {
		ids = append(ids, decision.ID)
	}
	return ids
}

// restart is a restart of what the job is now.
func (d *decisions) restart(id string) *PutRestart {
	job := d.job()
	return &PutRestart{Restart: &api.JobRestart{
		ID: id, Namespace: "default", JobID: "web", BatchSize: 1, Status: api.RestartRunning,
		JobVersion: job.Version, JobCreateIndex: job.CreateIndex,
	}}
}

func (d *decisions) place(p *Placement) error {
	p.Job = d.job()
	return d.apply(&CommitPlacement{p})
}

func nothing(*api.Decision) {}

func TestDecisionIsRefusedWhenWhatItIsAboutChanged(t *testing.T) {
	d := newDecisions(t)
	stale := d.decide(nothing)
	concurrent := d.decide(nothing)
	d.ok(d.decide(nothing))
	d.refused(concurrent, "something else was decided")
	again := testJob("web")
	again.Priority = 70
	d.ok(&RegisterJob{Job: again})
	stale.After = newestDecision(d.Snapshot().Decisions("default", "web"))
	d.refused(stale, "it is at version 1")
	d.refused(d.decide(func(x *api.Decision) { x.JobID = "other" }), "not found")
	ended := d.decide(nothing)
	ended.DeploymentUpdate = &DeploymentUpdate{ID: "gone", Status: api.DeploymentPaused}
	d.refused(ended, "ended meanwhile")
	d.ok(&CommitPlacement{&Placement{Job: d.job(), Deployment: &api.Deployment{ID: "dep", Namespace: "default", JobID: "web", Status: api.DeploymentRunning}}})
	d.refused(d.decide(func(x *api.Decision) { x.Run = "another" }), "started again")
	paused := d.decide(func(x *api.Decision) { x.Run, x.Verb = "dep", api.VerbInterrupt })
	paused.DeploymentUpdate = &DeploymentUpdate{ID: "dep", Status: api.DeploymentPaused, Description: "paused"}
	d.ok(paused)
	if got := d.Snapshot().Deployment("dep").Status; got != api.DeploymentPaused {
		t.Errorf("the deployment is %s after its plan was interrupted, want paused", got)
	}
}

func TestPlacementThatDoesNotKnowOfADecisionIsRefused(t *testing.T) {
	d := newDecisions(t)
	index := d.Index()
	d.ok(d.decide(nothing))
	if err := d.place(&Placement{SnapshotIndex: index, Evaluations: []*api.Evaluation{{ID: "e", Namespace: "default", JobID: "web"}}}); err == nil {
		t.Error("a placement from before the decision was committed")
	}
	restored, err := Restore(newPipe(d.Snapshot()))
	if err != nil {
		t.Fatal(err)
	}
	stale := &CommitPlacement{&Placement{SnapshotIndex: index, Job: d.job()}}
	if err := restored.Apply(restored.Index()+1, []Command{stale})[0]; err == nil {
		t.Error("a restored server commits what the others refuse")
	}
	if err := d.place(&Placement{SnapshotIndex: d.Index()}); err != nil {
		t.Errorf("a placement that knows of the decision: %v", err)
	}
}

func TestDecisionsThatMatterNoMoreAreForgotten(t *testing.T) {
	d := newDecisions(t)
	for range 30 {
		d.ok(d.decide(nothing)) // continue may count: all are kept
	}
	if got := len(d.ids()); got != 30 {
		t.Errorf("%d decisions about the version are kept, want 30", got)
	}
	again := testJob("web")
	again.Priority = 70
	d.ok(&RegisterJob{Job: again})
	d.ok(d.decide(func(x *api.Decision) { x.Plan, x.Group, x.Verb, x.Allocation = "", "web", api.VerbPause, "a" }))
	pause := d.ids()[len(d.ids())-1]
	d.ok(d.decide(func(x *api.Decision) { x.Plan, x.Verb = "backup", api.VerbStart }))
	start := d.ids()[len(d.ids())-1]
	for range 30 {
		d.ok(d.decide(func(x *api.Decision) { x.Plan, x.Verb = api.PlanRecovery, api.VerbInterrupt }))
	}
	if got := d.ids(); len(got) != decisionsKept+2 || got[0] != pause || got[1] != start {
		t.Errorf("kept are %v; want %s, %s and the newest %d", got, pause, start, decisionsKept)
	}
	if d.Snapshot().Decision("d1") != nil {
		t.Error("a forgotten decision is found by its id")
	}
	d.ok(d.decide(func(x *api.Decision) { x.Plan, x.Verb = "backup", api.VerbStart }))
	for range 20 {
		d.ok(d.decide(func(x *api.Decision) { x.Plan, x.Verb = api.PlanRecovery, api.VerbInterrupt }))
	}
	if slices.Contains(d.ids(), start) {
		t.Error("the start before the last one is kept")
	}
	d.ok(&DeregisterJob{Namespace: "default", ID: "web", Purge: true})
	if v := d.Snapshot(); len(v.Decisions("default", "web")) > 0 || v.Decision(pause) != nil {
		t.Error("decisions outlive their job")
	}
}

func TestOneRestartAtATime(t *testing.T) {
	d := newDecisions(t)
	d.ok(d.restart("r1"))
	d.refused(d.restart("r2"), "is being restarted")
	d.ok(&UpdateRestart{ID: "r1", Status: api.RestartPaused, Description: "paused", Time: 5})
	d.refused(&UpdateRestart{ID: "r1", Status: api.RestartPaused}, "is paused already")
	d.refused(&UpdateRestart{ID: "r1", Status: api.RestartRunning, ModifyIndex: 1}, "has changed in the meantime")
	d.refused(d.restart("r2"), "is being restarted")
	d.ok(&UpdateRestart{ID: "r1", Status: api.RestartCancelled, Time: 6})
	d.refused(&UpdateRestart{ID: "r1", Status: api.RestartRunning}, "has ended")
	d.refused(&UpdateRestart{ID: "r9", Status: api.RestartRunning}, "not found")
	d.ok(d.restart("r2"))
	if got := d.Snapshot().LatestRestart("default", "web"); got.ID != "r2" || got.CreateIndex != d.Index() {
		t.Errorf("the latest restart is %+v, want r2", got)
	}
	d.ok(&DeregisterJob{Namespace: "default", ID: "web", Time: 7})
	if got := d.Snapshot().Restart("r2"); got.Status != api.RestartCancelled || !got.UpdatedAt.Equal(time.Unix(0, 7)) {
		t.Errorf("after the job was stopped its restart is %+v, want it cancelled", got)
	}
	d.refused(d.restart("r3"), "is stopped")
	d.ok(&Collect{Restarts: []string{"r1", "unknown"}})
	if v := d.Snapshot(); v.Restart("r1") != nil || v.LatestRestart("default", "web").ID != "r2" {
		t.Error("collecting a restart took another one, or none")
	}
}

func TestPlacementTellsWhatIsRestartedInTheSameEntry(t *testing.T) {
	d := newDecisions(t)
	d.ok(d.restart("r1"))
	at := d.Index()
	r := d.Snapshot().Restart("r1").Copy()
	r.RestartedAllocs = []string{"a"}
	if err := d.place(&Placement{SnapshotIndex: at, Restart: r, Time: 8}); err != nil {
		t.Fatal(err)
	}
	got := d.Snapshot().Restart("r1")
	if len(got.RestartedAllocs) != 1 || got.ModifyIndex != d.Index() || got.CreateIndex != at {
		t.Errorf("the restart is %+v, want allocation a restarted", got)
	}
	stale := d.Index()
	d.ok(&UpdateRestart{ID: "r1", Status: api.RestartPaused})
	r.RestartedAllocs = []string{"a", "b"}
	if err := d.place(&Placement{SnapshotIndex: stale, Restart: r}); err == nil {
		t.Error("a batch was begun after the restart had been paused")
	}
	if got := d.Snapshot().Restart("r1"); got.Status != api.RestartPaused || len(got.RestartedAllocs) != 1 {
		t.Errorf("the restart is %+v, want it paused with one allocation", got)
	}
}

func TestDeploymentCancelsRestart(t *testing.T) {
	d := newDecisions(t)
	d.ok(d.restart("r1"))
	if err := d.place(&Placement{Deployment: &api.Deployment{ID: "dep", Namespace: "default", JobID: "web", Status: api.DeploymentRunning, JobCreateIndex: d.job().CreateIndex}, Time: 5}); err != nil {
		t.Fatal(err)
	}
	if got := d.Snapshot().Restart("r1"); got.Status != api.RestartCancelled || !strings.Contains(got.StatusDescription, "deployment dep") {
		t.Errorf("the restart is %s (%s), want it cancelled by the deployment", got.Status, got.StatusDescription)
	}
	d.refused(d.restart("r2"), "is being deployed")
	d.refused(&PromoteDeployment{ID: "dep", Groups: []string{"nope"}}, "has no group")
	d.refused(&SetAllocHealth{DeploymentID: "dep", Healthy: []string{"a"}}, "has no allocation")
	d.ok(&UpdateDeployment{ID: "dep", Status: api.DeploymentSuccessful})
	d.refused(&PromoteDeployment{ID: "dep"}, "has ended")
	d.refused(&SetAllocHealth{DeploymentID: "dep"}, "has ended")
	d.ok(d.restart("r2"))
}
