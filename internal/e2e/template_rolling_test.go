// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// rolled is a job of three instances whose configuration is a variable. Each start of an instance leaves the time and the
// configuration in a file. An instance with the configuration "bad" ends.
type rolled struct{ *machine }

func newRolled(t *testing.T) *rolled {
	t.Helper()
	m := newMachine(t)
	m.color("web", "red")
	job := testbed.ShellJob("web", 3, `echo "$(date +%s%N) $(cat local/conf)" >> `+m.Dir+`/starts.$NOMAD_ALLOC_INDEX
grep -q bad local/conf && exit 1
exec sleep 100000`)
	g := job.Groups[0]
	g.Update = &api.Update{MaxParallel: ptr(1), MinHealthyTime: ptr(time.Second), HealthyDeadline: ptr(4 * time.Second)}
	g.Restart = &api.Restart{Attempts: ptr(1000), Interval: ptr(time.Hour), Delay: ptr(500 * time.Millisecond), Mode: ptr(api.RestartModeDelay)}
	g.Tasks[0].Templates = []*api.Template{{DestPath: "local/conf", EmbeddedTmpl: `{{with nomadVar "nomad/jobs/web"}}{{.color}}{{end}}`}}
	m.register(job)
	m.allocations("web", "runs", running(3))
	m.eventually("it is deployed", func(ctx context.Context) error {
		d, _, err := m.Client.Jobs().LatestDeployment(ctx, "web", nil)
		if err == nil && (d == nil || d.Status != api.DeploymentSuccessful) {
			err = fmt.Errorf("deployment: %+v", d)
		}
		return err
	})
	return &rolled{m}
}

// starts returns the times and configurations of an instance's starts.
func (r *rolled) starts(index int) (at []time.Time, colors []string) {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.Dir, fmt.Sprintf("starts.%d", index)))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		when, color, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(when, 10, 64)
		if err != nil {
			r.t.Fatal(err)
		}
		at, colors = append(at, time.Unix(0, n)), append(colors, color)
	}
	return at, colors
}

// latest returns the configurations with which the instances started last.
func (r *rolled) latest() []string {
	all := make([]string, 3)
	for i := range all {
		if _, colors := r.starts(i); len(colors) > 0 {
			all[i] = colors[len(colors)-1]
		}
	}
	return all
}

// until waits for the newest restart of the job to become something.
func (r *rolled) until(what string, ok func(*api.JobRestart) bool) *api.JobRestart {
	r.t.Helper()
	var newest *api.JobRestart
	r.eventually("the restart "+what, func(ctx context.Context) error {
		list, _, err := r.Client.Restarts().OfJob(ctx, "web", nil)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return fmt.Errorf("none; %v", r.latest())
		}
		if newest = list[0]; !ok(newest) {
			return fmt.Errorf("it is %+v; %v", newest, r.latest())
		}
		return nil
	})
	return newest
}

// TestTemplateRollingRestartsOneAfterAnother changes a variable of three instances. They restart one after another, each
// when the one before is healthy. In the middle the restart is paused, and the leader killed: instances whose turn has
// not come keep their file.
func TestTemplateRollingRestartsOneAfterAnother(t *testing.T) {
	r := newRolled(t)
	r.color("web", "green")
	r.until("has begun", func(j *api.JobRestart) bool { return len(j.RestartedAllocs) > 0 })
	if _, err := r.Client.Plans().Do(t.Context(), "web", api.PlanRestart, api.VerbInterrupt, &api.PlanRequest{By: "bob", Reason: "lunch"}); err != nil {
		t.Fatal(err)
	}
	paused := r.until("is paused", isRestart(api.RestartPaused))
	if !paused.Templates || !paused.HealthGate || paused.BatchSize != 1 || paused.By != "template changes" || !strings.Contains(paused.Reason, "local/conf") {
		t.Errorf("the restart is %+v", paused)
	}
	r.Kill()
	r.start()
	r.waitReady()
	r.until("is paused still", isRestart(api.RestartPaused))
	told := len(paused.RestartedAllocs)
	r.eventually("the instances whose turn has come have the new rendering", func(context.Context) error {
		green := 0
		for _, color := range r.latest() {
			if color == "green" {
				green++
			}
		}
		if green != told {
			return fmt.Errorf("%v", r.latest())
		}
		return nil
	})
	for _, a := range r.allocations("web", "runs", running(3)) {
		want := "red"
		if slices.Contains(paused.RestartedAllocs, a.ID) {
			want = "green"
		}
		if text, err := os.ReadFile(filepath.Join(r.Dir, "node/alloc", a.ID, "task/local/conf")); err != nil || string(text) != want {
			t.Errorf("the file of %s is %q, %v; want %s", a.Name, text, err, want)
		}
		if out := r.reeve("alloc", "status", a.ID); strings.Contains(out, "its turn in a rolling restart") != (want == "red") {
			t.Errorf("alloc status of %s, which is %s:\n%s", a.Name, want, out)
		}
	}
	if _, err := r.Client.Restarts().Resume(t.Context(), "web", paused.ID, &api.JobRestartVerbRequest{By: "ann"}); err != nil {
		t.Fatal(err)
	}
	done := r.until("is complete", isRestart(api.RestartComplete))
	if done.ID != paused.ID || len(done.RestartedAllocs) != 3 {
		t.Errorf("it ended as %+v", done)
	}
	var restarted []time.Time
	for i := range 3 {
		at, colors := r.starts(i)
		if !slices.Equal(colors, []string{"red", "green"}) {
			t.Fatalf("instance %d started with %v", i, colors)
		}
		restarted = append(restarted, at[1])
	}
	slices.SortFunc(restarted, time.Time.Compare)
	for i, at := range restarted[1:] {
		if apart := at.Sub(restarted[i]); apart < time.Second {
			t.Errorf("two instances restarted within %s, before the first was healthy for a second", apart)
		}
	}
}

// TestTemplateRollingStopsAtAFailure stores a value with which the task ends. One instance fails, the restart pauses with
// its reason, and the others keep the old value. A correct value and resume finish it.
func TestTemplateRollingStopsAtAFailure(t *testing.T) {
	r := newRolled(t)
	r.color("web", "bad")
	paused := r.until("is paused", isRestart(api.RestartPaused))
	if paused.StatusReason != api.ReasonRestartTripped || len(paused.RestartedAllocs) != 1 {
		t.Errorf("the restart is %+v", paused)
	}
	const why = "Paused because 1 allocation did not become healthy again"
	for _, command := range [][]string{{"job", "status", "web"}, {"plan", "show", "web", "restart"}} {
		if out := r.reeve(command...); !strings.Contains(out, why) {
			t.Errorf("%v does not say why it stopped:\n%s", command, out)
		}
	}
	if latest := r.latest(); slices.Compare(slices.Sorted(slices.Values(latest)), []string{"bad", "red", "red"}) != 0 {
		t.Errorf("the instances have %v", latest)
	}
	r.color("web", "green")
	r.eventually("the failed instance takes the correct value by itself", func(context.Context) error {
		if latest := r.latest(); !slices.Contains(latest, "green") {
			return fmt.Errorf("%v", latest)
		}
		return nil
	})
	if _, err := r.Client.Restarts().Resume(t.Context(), "web", paused.ID, &api.JobRestartVerbRequest{By: "ann"}); err != nil {
		t.Fatal(err)
	}
	r.until("is complete", isRestart(api.RestartComplete))
	if latest := r.latest(); !slices.Equal(latest, []string{"green", "green", "green"}) {
		t.Errorf("the instances have %v", latest)
	}
}
