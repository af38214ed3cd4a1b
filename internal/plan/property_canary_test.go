// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/plan/operator"
	"github.com/reeve-run/reeve/internal/state"
)

// anyCanaries is what a random group says of canaries and health.
func anyCanaries(t *rapid.T, everywhere bool) string {
	kinds := []string{"", "", "", " health_check=manual", " share=40", " progress=0", " progress=5m auto_revert=true"}
	options := rapid.SampledFrom(kinds).Draw(t, "update")
	if n := rapid.IntRange(0, 3).Draw(t, "canary"); n > 0 {
		if everywhere {
			n *= 33
		}
		options += fmt.Sprintf(" canary=%d", n)
		if rapid.Bool().Draw(t, "auto_promote") {
			options += " auto_promote=true"
		}
	}
	return options
}

// promoteAny promotes canaries, if that is not refused.
func (w *world) promoteAny(t *rapid.T) {
	d := w.snapshot().LatestDeployment(api.DefaultNamespace, w.job)
	if d == nil {
		return
	}
	var groups []string
	if rapid.Bool().Draw(t, "by group") {
		groups = []string{"g0"}
	}
	if promoted, err := operator.Promote(w.snapshot(), d, groups); err == nil {
		for name, g := range promoted.Groups {
			if g.Promoted && !d.Groups[name].Promoted {
				w.promote([]string{name})
			}
		}
	}
}

// judgeAny says of a random allocation how it is, if that is not refused.
func (w *world) judgeAny(t *rapid.T) {
	d := w.snapshot().LatestDeployment(api.DefaultNamespace, w.job)
	all := w.allocations()
	if d == nil || len(all) == 0 {
		return
	}
	a, well := rapid.SampledFrom(all).Draw(t, "allocation"), rapid.IntRange(0, 3).Draw(t, "well") > 0
	healthy, unhealthy := []string{a.ID}, []string(nil)
	if !well {
		healthy, unhealthy = nil, healthy
	}
	if operator.CheckHealth(w.snapshot(), d, healthy, unhealthy) != nil {
		return
	}
	cmd := &state.SetAllocHealth{DeploymentID: d.ID, Healthy: healthy, Unhealthy: unhealthy, Time: w.now.UnixNano()}
	if !well {
		cmd.Status, cmd.Reason, cmd.Description = api.DeploymentFailed, api.ReasonDeploymentUnhealthy, api.ReasonDeploymentUnhealthy.Text()
	}
	w.apply(cmd)
}

// limit is how many instances of a group may be taken away at a time.
func (w *world) limit(group string) int {
	g := w.newest().Group(group)
	if p := g.Update.MaxParallelPercent; p != nil {
		n := g.Size()
		if w.newest().RunsOnEveryNode() {
			n = len(slices.Collect(w.snapshot().Nodes()))
		}
		return api.ShareOf(0, *p, n)
	}
	return *g.Update.MaxParallel
}

// checkCanaries checks that canaries are never more than there should be, that
// none is left over, and that what they run beside is not touched.
func (w *world) checkCanaries(t *rapid.T, r *plan.Result) {
	job := w.newest()
	d := w.snapshot().LatestDeployment(job.Namespace, job.ID)
	waits := func(group string) bool {
		return d != nil && d.IsActive() && d.JobVersion == job.Version && d.Groups[group] != nil &&
			d.Groups[group].DesiredCanaries > 0 && !d.Groups[group].Promoted
	}
	indexes := map[string]map[int]bool{}
	for _, a := range w.allocations() {
		if !a.IsCanary() || a.IsTerminal() || job.RunsOnEveryNode() {
			continue
		}
		if !waits(a.Group) || a.DeploymentID != d.ID {
			t.Fatalf("canary %s of %s is left over", a.Name, api.ShortID(a.DeploymentID))
		}
		if indexes[a.Group] == nil {
			indexes[a.Group] = map[int]bool{}
		}
		indexes[a.Group][a.Index()] = true
	}
	for group, all := range indexes {
		if most := d.Groups[group].DesiredCanaries; len(all) > most || most > job.Group(group).Size() {
			t.Fatalf("%s has %d canaries, %d are wanted beside %d", group, len(all), most, job.Group(group).Size())
		}
	}
	if job.RunsOnEveryNode() {
		return
	}
	for _, s := range r.Stop {
		if waits(s.Alloc.Group) && !s.Alloc.IsCanary() && !s.Alloc.IsServerTerminal() && s.Reason == api.ReasonUpdated && !w.isHeld(s.Alloc.Name) {
			t.Fatalf("%s was stopped before the canaries of its group were promoted\n%s%s", s.Alloc.Name, w.listing(), w.tree())
		}
	}
	for _, a := range w.allocations() {
		if waits(a.Group) && !a.IsCanary() && a.CreateIndex > d.CreateIndex && a.DeploymentID == d.ID && a.PreviousAllocation == "" {
			t.Fatalf("%s of the newest version runs before its canaries were promoted", a.Name)
		}
	}
}

// isHeld reports whether an allocation that is no canary holds the instance.
func (w *world) isHeld(name string) bool {
	return slices.ContainsFunc(w.allocations(), func(a *api.Allocation) bool {
		return a.Name == name && !a.IsTerminal() && !a.IsCanary()
	})
}
