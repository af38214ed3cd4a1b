// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// pendingOf returns what the allocation reports of a newer rendering.
func pendingOf(r *Runner) string {
	_, values := r.Report().TaskStates["main"].PendingTemplates()
	return strings.Join(values, ",")
}

// launched returns the allocation as the servers send it when a restart reaches its task.
func launched(a *api.Allocation, token string) *api.Allocation {
	next := *a
	next.AllocModifyIndex++
	next.Launches = &api.Launches{ID: token, Tasks: map[string]*api.Launch{"main": {Token: token}}}
	return &next
}

// TestTemplateRollingWaitsForItsTurn changes a value: the node reports it, and neither the process nor the file
// changes until the servers restart the task.
func TestTemplateRollingWaitsForItsTurn(t *testing.T) {
	inBubble(t, func(b *bench) {
		f := newValues()
		f.items["v"] = "one"
		withTemplates(b, f)
		a := allocation(api.JobTypeService, taskSpec("main", tmpl(api.TemplateRolling, readX)))
		r := b.start(a)
		b.driver.Wait(1)
		b.want("pending at first", "", pendingOf(r))
		f.set(func() { f.items["v"] = "two" })
		bubble.Pass(time.Hour)
		b.want("starts", 1, len(b.driver.Started()))
		b.want("the file", "x=one", b.rendered(r, "main"))
		first := pendingOf(r)
		if first == "" || strings.Contains(first, "two") {
			t.Errorf("it reports %q", first)
		}
		f.set(func() { f.items["v"] = "three" })
		if second := pendingOf(r); second == "" || second == first {
			t.Errorf("after other values it reports %q, before %q", second, first)
		}
		r.Update(launched(a, "restart-1"))
		b.driver.Wait(2)
		b.want("the file after the restart", "x=three", b.rendered(r, "main"))
		b.want("pending after the restart", "", pendingOf(r))
		bubble.Pass(time.Hour)
		b.want("starts at the end", 2, len(b.driver.Started()))
	})
}

// TestTemplateRollingWithdrawsWhatIsNoLongerTrue changes a value back, deletes a variable, and ends the process.
func TestTemplateRollingWithdrawsWhatIsNoLongerTrue(t *testing.T) {
	for name, do := range map[string]struct {
		change func(b *bench, f *fakeValues)
		starts int
		file   string
	}{
		"the value changes back": {func(_ *bench, f *fakeValues) { f.set(func() { f.items["v"] = "one" }) }, 1, "x=one"},
		"the variable is gone":   {func(_ *bench, f *fakeValues) { f.set(func() { delete(f.items, "v") }) }, 1, "x=one"},
		"the process ends":       {func(b *bench, _ *fakeValues) { b.driver.Process("main").Exit(1) }, 2, "x=two"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				f := newValues()
				f.items["v"] = "one"
				withTemplates(b, f)
				r := b.start(allocation(api.JobTypeService, taskSpec("main", tmpl(api.TemplateRolling, readX), policy(5, api.RestartModeFail))))
				b.driver.Wait(1)
				f.set(func() { f.items["v"] = "two" })
				if pendingOf(r) == "" {
					t.Fatal("it reports no newer rendering")
				}
				do.change(b, f)
				bubble.Pass(time.Minute)
				b.want("pending", "", pendingOf(r))
				b.want("starts", do.starts, len(b.driver.Started()))
				b.want("the file", do.file, b.rendered(r, "main"))
			})
		})
	}
}

// TestTemplateRollingBesideOtherModes has one value in three templates: the signal follows at once, and only the rolling
// template waits. One that restarts its task makes the task receive all.
func TestTemplateRollingBesideOtherModes(t *testing.T) {
	other := func(mode string) func(*api.Task) {
		return tmpl(mode, "y"+readX, func(t *api.Template) { t.DestPath, t.ChangeSignal = "local/b.conf", "SIGHUP" })
	}
	for mode, want := range map[string]struct {
		starts, signals int
		file            string
		pending         bool
	}{api.TemplateSignal: {1, 1, "x=one", true}, api.TemplateRestart: {2, 0, "x=two", false}} {
		t.Run(mode, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				f := newValues()
				f.items["v"] = "one"
				withTemplates(b, f)
				r := b.start(allocation(api.JobTypeService, taskSpec("main", tmpl(api.TemplateRolling, readX), other(mode))))
				b.driver.Wait(1)
				f.set(func() { f.items["v"] = "two" })
				bubble.Pass(time.Minute)
				b.want("starts", want.starts, len(b.driver.Started()))
				b.want("signals", want.signals, len(b.driver.Process("main").Signals()))
				b.want("the rolling file", want.file, b.rendered(r, "main"))
				b.want("pending", want.pending, pendingOf(r) != "")
			})
		})
	}
}

// TestTemplateRollingFollowsTheModeOfTheNewestVersion changes the mode in place.
func TestTemplateRollingFollowsTheModeOfTheNewestVersion(t *testing.T) {
	for _, to := range []string{api.TemplateRolling, api.TemplateRestart} {
		t.Run(to, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				from := api.TemplateRolling
				if to == from {
					from = api.TemplateRestart
				}
				f := newValues()
				f.items["v"] = "one"
				withTemplates(b, f)
				a := allocation(api.JobTypeService, taskSpec("main", tmpl(from, readX)))
				r := b.start(a)
				b.driver.Wait(1)
				next := *a
				next.AllocModifyIndex++
				next.Job = allocation(api.JobTypeService, taskSpec("main", tmpl(to, readX))).Job
				next.Job.Version++
				r.Update(&next)
				f.set(func() { f.items["v"] = "two" })
				bubble.Pass(time.Minute)
				b.want("pending", to == api.TemplateRolling, pendingOf(r) != "")
				b.want("starts", map[string]int{api.TemplateRolling: 1, api.TemplateRestart: 2}[to], len(b.driver.Started()))
			})
		})
	}
}
