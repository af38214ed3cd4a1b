// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/operator"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/state"
)

// TestAnyRestart lets random things happen during a rolling restart, changes of
// leader among them. No allocation is told twice, and never more of them are
// under way than a batch is large; left alone, the restart ends.
func TestAnyRestart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.nodes([]string{"3"})
		w.register([]string{"web"}, []string{fmt.Sprintf("group web count=%d max_parallel=0 delay=30s function=constant",
			rapid.IntRange(1, 6).Draw(t, "count"))})
		w.evaluate(w.evaluation())
		w.say("start", w.audible())
		req := &api.JobRestartRequest{
			BatchSize: rapid.IntRange(1, 3).Draw(t, "batch"), HealthGate: rapid.Bool().Draw(t, "gate"),
			BatchWait:    rapid.SampledFrom(waits).Draw(t, "wait"),
			MaxUnhealthy: rapid.IntRange(0, 2).Draw(t, "max unhealthy"),
			OnError:      rapid.SampledFrom([]string{"", api.RestartOnErrorFail, api.RestartOnErrorContinue}).Draw(t, "on error"),
		}
		j, err := operator.NewRestart(w.snapshot(), w.newest(), req, w.now)
		if err != nil {
			t.Fatal(err)
		}
		w.apply(&state.PutRestart{Restart: j})
		told := &toldOnce{}
		told.evaluate(t, w)
		t.Repeat(map[string]func(*rapid.T){
			"up":       func(t *rapid.T) { w.anyUpAgain(t, true); told.evaluate(t, w) },
			"unwell":   func(t *rapid.T) { w.anyUpAgain(t, false); told.evaluate(t, w) },
			"fail":     func(t *rapid.T) { w.anySays(t, "fail"); told.evaluate(t, w) },
			"leader":   func(t *rapid.T) { w.restartServer(); told.evaluate(t, w) },
			"nothing":  func(t *rapid.T) { told.evaluate(t, w) },
			"instance": func(t *rapid.T) { w.anyOrder(t); told.evaluate(t, w) },
			"verb": func(t *rapid.T) {
				status := rapid.SampledFrom([]string{api.RestartPaused, api.RestartRunning}).Draw(t, "status")
				if now := w.snapshot().LatestRestart(api.DefaultNamespace, "web"); now.IsActive() && now.Status != status {
					w.changeRestart(status)
				}
				told.evaluate(t, w)
			},
			"time": func(t *rapid.T) {
				w.after(rapid.SampledFrom([]string{"1s", "10s", "30s"}).Draw(t, "time"))
				told.evaluate(t, w)
			},
		})
		for range 40 { // left alone
			now := w.snapshot().LatestRestart(api.DefaultNamespace, "web")
			if !now.IsActive() {
				return
			}
			if now.Status == api.RestartPaused {
				w.changeRestart(api.RestartRunning)
			}
			for _, in := range view.Instances(w.snapshot(), w.key(), w.newest(), w.now) {
				if in.Paused {
					w.order(t, in.Name, api.VerbResume)
				}
			}
			told.evaluate(t, w)
			if live := w.names(); len(live) > 0 {
				w.upAgain(live, true)
			}
			w.after("30s")
			told.evaluate(t, w)
		}
		t.Fatalf("the restart does not end:\n%s%s", w.restartOf(), w.tree())
	})
}

var waits = []time.Duration{0, 0, 20 * time.Second}

// toldOnce watches which allocations are told to restart.
type toldOnce struct{ seen []string }

func (o *toldOnce) evaluate(t *rapid.T, w *world) {
	before := w.snapshot().LatestRestart(api.DefaultNamespace, "web")
	w.evaluate(w.evaluation())
	j := w.snapshot().LatestRestart(api.DefaultNamespace, "web")
	if n := len(j.RestartedAllocs) - len(before.RestartedAllocs); n > j.BatchSize {
		t.Fatalf("%d are told at once, a batch is %d", n, j.BatchSize)
	}
	o.seen = j.RestartedAllocs
	for i, id := range o.seen {
		if slices.Contains(o.seen[:i], id) {
			t.Fatalf("%s is told twice", id)
		}
		if a := w.snapshot().Allocation(id); a != nil && a.CreateIndex > j.CreateIndex {
			t.Fatalf("%s is newer than the restart", id)
		}
	}
	under := 0
	for _, id := range o.seen {
		a := w.snapshot().Allocation(id)
		if a == nil || a.IsTerminal() || a.Launches == nil {
			continue
		}
		l, is := a.Launches.Tasks["main"], a.TaskStates["main"]
		if l.Token == j.ID && !l.Hold && (is == nil || is.Launch != j.ID) {
			under++
		}
	}
	if under > j.BatchSize {
		t.Fatalf("%d are under way, a batch is %d\n%s", under, j.BatchSize, w.tree())
	}
	for _, a := range w.allocations() {
		if a.Launches != nil && a.Launches.Tasks["main"] != nil && a.Launches.Tasks["main"].Token == j.ID && !slices.Contains(o.seen, a.ID) {
			t.Fatalf("%s was told, and the restart does not know it", a.ID)
		}
	}
}

// names are the live instances.
func (w *world) names() (names []string) {
	for _, a := range w.audible() {
		names = append(names, fmt.Sprintf("web[%d]", a.Index()))
	}
	return names
}

func (w *world) anyUpAgain(t *rapid.T, healthy bool) {
	if names := w.names(); len(names) > 0 {
		w.upAgain([]string{rapid.SampledFrom(names).Draw(t, "instance")}, healthy)
	}
}

func (w *world) anySays(t *rapid.T, what string) {
	if names := w.names(); len(names) > 0 {
		w.reports(what, []string{rapid.SampledFrom(names).Draw(t, "instance")})
	}
}

// anyOrder has an operator do something to an instance.
func (w *world) anyOrder(t *rapid.T) {
	all := view.Instances(w.snapshot(), w.key(), w.newest(), w.now)
	in := rapid.SampledFrom(all).Draw(t, "instance")
	verb := rapid.SampledFrom([]api.Verb{api.VerbRestart, api.VerbReplace, api.VerbPause, api.VerbResume}).Draw(t, "verb")
	w.order(t, in.Name, verb)
}

func (w *world) order(t *rapid.T, name string, verb api.Verb) {
	if _, err := operator.DecideInstance(w.snapshot(), w.newest(), name, verb, nil, w.now); err == nil {
		w.instanceVerb(string(verb), name, map[string]string{})
	} else if api.CodeOf(err) != api.CodeConflict {
		t.Fatal(err)
	}
}
