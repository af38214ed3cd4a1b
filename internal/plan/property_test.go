// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/state"
)

// TestAnyHistory lets random things happen to a random fleet and job, and after
// each checks what must always hold.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for i := range rapid.IntRange(1, 5).Draw(t, "nodes") {
			w.addNode(fmt.Sprintf("n%d", i+1), rapid.Int64Range(100, 1000).Draw(t, "cpu"), 1000,
				rapid.SampledFrom([]string{"east", "west"}).Draw(t, "datacenter"),
				map[string]string{"disk": rapid.SampledFrom([]string{"ssd", "hdd"}).Draw(t, "disk")})
		}
		w.registerAny(t)
		w.evaluateChecked(t)
		t.Repeat(map[string]func(*rapid.T){
			"register": func(t *rapid.T) { w.registerAny(t); w.evaluateChecked(t) },
			"report":   func(t *rapid.T) { w.reportAny(t); w.evaluateChecked(t) },
			"gone":     func(t *rapid.T) { w.allGone(); w.evaluateChecked(t) },
			"node":     func(t *rapid.T) { w.nodeAny(t); w.evaluateChecked(t) },
			"stop":     func(t *rapid.T) { w.stopAny(t); w.evaluateChecked(t) },
			"time": func(t *rapid.T) {
				w.after(rapid.SampledFrom([]string{"1s", "30s", "10m"}).Draw(t, "time"))
				w.check()
				w.evaluateChecked(t)
			},
		})
	})
}

func (w *world) registerAny(t *rapid.T) {
	header := []string{"web"}
	if rapid.IntRange(0, 9).Draw(t, "batch") == 0 {
		header = append(header, "type=batch")
	}
	if rapid.IntRange(0, 3).Draw(t, "everywhere") == 0 {
		header = append(header, "dc="+rapid.SampledFrom([]string{"east", "*"}).Draw(t, "job datacenter"))
	}
	var groups []string
	for i := range rapid.IntRange(1, 2).Draw(t, "groups") {
		g := fmt.Sprintf("group g%d count=%d cpu=%d max_parallel=%d env=%d", i, rapid.IntRange(0, 5).Draw(t, "count"),
			rapid.SampledFrom([]int{50, 100, 300}).Draw(t, "cpu"), rapid.IntRange(0, 3).Draw(t, "max_parallel"),
			rapid.IntRange(0, 2).Draw(t, "env"))
		g += rapid.SampledFrom([]string{"", "", " port=8080", " dynamic=2", " constraint=disk:ssd", " tag=x"}).Draw(t, "more")
		groups = append(groups, g)
	}
	w.register(header, groups)
}

func (w *world) reportAny(t *rapid.T) {
	live := slices.DeleteFunc(w.allocations(), func(a *api.Allocation) bool { return a.IsTerminal() })
	if len(live) == 0 {
		return
	}
	what := rapid.SampledFrom([]string{"start", "healthy", "healthy", "unhealthy", "fail", "finish"}).Draw(t, "what")
	if rapid.Bool().Draw(t, "all") {
		w.reports(what, []string{"all"})
		return
	}
	a := rapid.SampledFrom(live).Draw(t, "allocation")
	_, name, _ := strings.Cut(a.Name, ".")
	w.reports(what, []string{name})
}

func (w *world) nodeAny(t *rapid.T) {
	nodes := slices.Collect(w.snapshot().Nodes())
	n := rapid.SampledFrom(nodes).Draw(t, "node")
	w.nodeStatus(rapid.SampledFrom([]string{"down", "up", "up"}).Draw(t, "status"), []string{n.ID})
}

func (w *world) stopAny(t *rapid.T) {
	live := slices.DeleteFunc(w.allocations(), func(a *api.Allocation) bool { return a.IsTerminal() })
	switch n := rapid.IntRange(0, 9).Draw(t, "stop"); {
	case n == 0:
		w.apply(&state.DeregisterJob{Namespace: api.DefaultNamespace, ID: w.job, Time: w.now.UnixNano()})
	case n == 1:
		w.apply(&state.DeregisterJob{Namespace: api.DefaultNamespace, ID: w.job, Purge: true, Time: w.now.UnixNano()})
		w.registerAny(t)
	case n == 2 && w.snapshot().LatestDeployment(api.DefaultNamespace, w.job) != nil:
		if d := w.snapshot().LatestDeployment(api.DefaultNamespace, w.job); d.IsActive() {
			w.deployment(rapid.SampledFrom([]string{api.DeploymentPaused, api.DeploymentRunning, api.DeploymentFailed}).Draw(t, "deployment"))
		}
	case len(live) > 0:
		a := rapid.SampledFrom(live).Draw(t, "allocation")
		w.apply(&state.SetTransition{AllocationIDs: []string{a.ID}, Transition: api.DesiredTransition{Migrate: new(true)}})
	}
}

// evaluateChecked evaluates, and checks every invariant.
func (w *world) evaluateChecked(t *rapid.T) {
	r, o := w.evaluate(w.evaluation())
	for _, a := range o.Place {
		if reason, ok := placement.Suits(a.Job, a.Job.Group(a.Group), w.snapshot().Node(a.NodeID)); !ok {
			t.Fatalf("%s was placed on %s in spite of %s", a.Name, a.NodeID, reason)
		}
	}
	taken := map[string]int{}
	for _, s := range o.Stop {
		if s.Description == "replaced by a newer version of the job" && s.Alloc.ClientStatus == api.AllocClientRunning && !s.Alloc.IsUnhealthy() {
			taken[s.Alloc.Group]++
		}
	}
	for name, n := range taken {
		if w.newest().Type != api.JobTypeService {
			continue
		}
		if limit := *w.newest().Group(name).Update.MaxParallel; limit > 0 && n > limit {
			t.Fatalf("%d instances of %s were taken away at once, max_parallel is %d", n, name, limit)
		}
	}
	if len(r.Start) != len(o.Place)+sum(o.Queued) {
		t.Fatalf("%d were to be placed; %d were, %d are queued", len(r.Start), len(o.Place), sum(o.Queued))
	}
	w.checkRoom(t)
	w.checkInstances(t)
	again, outcome := w.compute(w.evaluation())
	if len(again.Stop)+len(again.Update)+len(again.FollowUps)+len(again.DeploymentUpdates)+len(outcome.Place)+len(outcome.Stop) > 0 || again.Deployment != nil {
		t.Fatalf("evaluating again does more: stop %d, update %d, follow-ups %d, deployments %v %v, place %d, replace %d",
			len(again.Stop), len(again.Update), len(again.FollowUps), again.DeploymentUpdates, again.Deployment, len(outcome.Place), len(outcome.Stop))
	}
	if r.Deployment != nil && w.snapshot().Deployment(r.Deployment.ID) == nil {
		t.Fatalf("deployment %s was not stored", r.Deployment.ID)
	}
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// checkRoom checks that no node holds more than it has, nor a port twice.
func (w *world) checkRoom(t *rapid.T) {
	view := w.fleet.View()
	for n := range w.snapshot().Nodes() {
		var used api.Usage
		ports := map[int]string{}
		for a := range w.snapshot().AllocationsByNode(n.ID) {
			if !a.HoldsResources() {
				continue
			}
			used = used.Add(a.Usage())
			for _, port := range placement.Ports(a) {
				if other := ports[port]; other != "" {
					t.Fatalf("port %d of %s is given to %s and %s", port, n.ID, other, a.ID)
				}
				ports[port] = a.ID
			}
		}
		if dimension, ok := used.Fits(n.Capacity()); !ok {
			t.Fatalf("%s holds %+v of %+v: too much %s", n.ID, used, n.Capacity(), dimension)
		}
		if view.Used(n.ID) != used {
			t.Fatalf("the fleet counts %+v on %s, its allocations hold %+v", view.Used(n.ID), n.ID, used)
		}
	}
}

// checkInstances checks that no place is held twice, and nothing runs that
// should not.
func (w *world) checkInstances(t *rapid.T) {
	job := w.newest()
	held := map[string]string{}
	for _, a := range w.allocations() {
		if a.IsTerminal() {
			continue
		}
		if other := held[a.Name]; other != "" {
			t.Fatalf("%s and %s both are %s", other, a.ID, a.Name)
		}
		held[a.Name] = a.ID
		g := job.Group(a.Group)
		if job.Stop || g == nil || a.Index() >= g.Size() {
			t.Fatalf("%s should not run any more", a.Name)
		}
	}
}
