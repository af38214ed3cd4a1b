// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan/tree"
	"github.com/reeve-run/reeve/internal/state"
)

// TestAnyHistory lets random things happen to a random fleet and job, and after
// each checks what must always hold.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for i := range rapid.IntRange(1, 5).Draw(t, "nodes") {
			w.addAny(t, fmt.Sprintf("n%d", i+1))
		}
		w.registerAny(t)
		w.evaluateChecked(t)
		t.Repeat(map[string]func(*rapid.T){
			"register": func(t *rapid.T) { w.registerAny(t); w.evaluateChecked(t) },
			"report":   func(t *rapid.T) { w.reportAny(t); w.evaluateChecked(t) },
			"gone":     func(t *rapid.T) { w.heardGone(); w.evaluateChecked(t) },
			"node":     func(t *rapid.T) { w.nodeAny(t); w.evaluateChecked(t) },
			"stop":     func(t *rapid.T) { w.stopAny(t); w.evaluateChecked(t) },
			"promote":  func(t *rapid.T) { w.promoteAny(t); w.evaluateChecked(t) },
			"judge":    func(t *rapid.T) { w.judgeAny(t); w.evaluateChecked(t) },
			"time": func(t *rapid.T) {
				w.after(rapid.SampledFrom([]string{"1s", "30s", "10m"}).Draw(t, "time"))
				w.check()
				w.evaluateChecked(t)
			},
		})
	})
}

func (w *world) registerAny(t *rapid.T) {
	header := []string{"web", "type=" + rapid.SampledFrom([]string{"service", "service", "batch", "system", "sysbatch"}).Draw(t, "type")}
	if old := w.newest(); old != nil {
		header[1] = "type=" + old.Type // a job's type never changes
	}
	everywhere := strings.HasPrefix(header[1], "type=sys")
	if rapid.IntRange(0, 3).Draw(t, "everywhere") == 0 {
		header = append(header, "dc="+rapid.SampledFrom([]string{"east", "*"}).Draw(t, "job datacenter"))
	}
	var groups []string
	for i := range rapid.IntRange(1, 2).Draw(t, "groups") {
		most := 5
		if everywhere {
			most = 1
		}
		g := fmt.Sprintf("group g%d count=%d cpu=%d max_parallel=%d env=%d", i, rapid.IntRange(0, most).Draw(t, "count"),
			rapid.SampledFrom([]int{50, 100, 300}).Draw(t, "cpu"), rapid.IntRange(0, 3).Draw(t, "max_parallel"),
			rapid.IntRange(0, 2).Draw(t, "env"))
		g += rapid.SampledFrom([]string{"", "", " port=8080", " dynamic=2", " constraint=disk:ssd", " tag=x"}).Draw(t, "more")
		g += rapid.SampledFrom([]string{"", " delay=10s function=exponential max_delay=1m", " immediate=1 delay=30s", " attempts=2 interval=10m delay=5s",
			" attempts=0"}).Draw(t, "reschedule")
		g += rapid.SampledFrom([]string{"", "", " stop_on_client_after=30s", " replace=false", " lost_after=5m replace=false", " lost_after=5m"}).Draw(t, "disconnect")
		if strings.HasSuffix(g, "lost_after=5m") {
			g += " reconcile=" + rapid.SampledFrom([]string{"keep_original", "keep_replacement", "best_score", "longest_running"}).Draw(t, "reconcile")
		}
		if !everywhere {
			g += rapid.SampledFrom([]string{"", "", " permanent_after=1m"}).Draw(t, "recovery")
		}
		groups = append(groups, g+anyCanaries(t, everywhere))
	}
	w.register(header, groups)
}

// audible are the live allocations whose nodes can be heard.
func (w *world) audible() []*api.Allocation {
	return slices.DeleteFunc(w.allocations(), func(a *api.Allocation) bool { return a.IsTerminal() || w.isSilent(a.NodeID) })
}

func (w *world) isSilent(id string) bool {
	n := w.snapshot().Node(id)
	return n == nil || n.Status != api.NodeStatusReady
}

func (w *world) reportAny(t *rapid.T) {
	live := w.audible()
	if len(live) == 0 {
		return
	}
	what := rapid.SampledFrom([]string{"start", "healthy", "healthy", "unhealthy", "restart", "fail", "finish"}).Draw(t, "what")
	if !rapid.Bool().Draw(t, "all") {
		live = []*api.Allocation{rapid.SampledFrom(live).Draw(t, "allocation")}
	}
	w.say(what, live)
}

func (w *world) nodeAny(t *rapid.T) {
	nodes := slices.Collect(w.snapshot().Nodes())
	what := rapid.SampledFrom([]string{
		"down", "disconnect", "disconnect", "up", "up", "up", "ineligible", "eligible", "drain", "undrain", "remove", "add",
	}).Draw(t, "node event")
	if what == "add" || len(nodes) == 0 {
		w.ids++
		w.addAny(t, fmt.Sprintf("n%d", 10+w.ids))
		return
	}
	n := rapid.SampledFrom(nodes).Draw(t, "node")
	if n.DrainStrategy != nil && strings.HasSuffix(what, "eligible") {
		what = "undrain"
	}
	events[what](w, []string{n.ID}, nil)
}

func (w *world) addAny(t *rapid.T, name string) {
	w.addNode(name, rapid.Int64Range(100, 1000).Draw(t, "cpu"), 1000,
		rapid.SampledFrom([]string{"east", "west"}).Draw(t, "datacenter"),
		map[string]string{"disk": rapid.SampledFrom([]string{"ssd", "hdd"}).Draw(t, "disk")})
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
	before := w.moving()
	r, o := w.evaluate(w.evaluation())
	w.checkMoved(t, before, o)
	for _, a := range o.Place {
		if reason, ok := placement.IsFeasible(a.Job, a.Job.Group(a.Group), w.snapshot().Node(a.NodeID)); !ok {
			t.Fatalf("%s was placed on %s in spite of %s", a.Name, a.NodeID, reason)
		}
	}
	taken := map[string]int{}
	for _, s := range o.Stop {
		if s.Reason == api.ReasonUpdated && s.Alloc.ClientStatus == api.AllocClientRunning && !s.Alloc.IsUnhealthy() && !w.isSilent(s.Alloc.NodeID) {
			taken[s.Alloc.Group]++
		}
	}
	for name, n := range taken {
		if w.newest().RunsToCompletion() {
			continue
		}
		if limit := w.limit(name); limit > 0 && n > limit {
			t.Fatalf("%d instances of %s were taken away at once, max_parallel is %d", n, name, limit)
		}
	}
	if len(r.Start) != len(o.Place)+sum(o.Queued) {
		t.Fatalf("%d were to be placed; %d were, %d are queued", len(r.Start), len(o.Place), sum(o.Queued))
	}
	w.checkRoom(t)
	w.checkInstances(t)
	w.checkCanaries(t, r)
	w.checkReasons(t, o)
	w.checkEverywhere(t, o)
	w.checkHeld(t, r)
	again, outcome := w.compute(w.evaluation())
	if len(again.Stop)+len(again.Update)+len(again.FollowUps)+len(again.DeploymentUpdates)+len(outcome.Place)+len(outcome.Stop) > 0 || again.Deployment != nil {
		t.Fatalf("evaluating again does more: stop %d, update %d, follow-ups %d, deployments %v %v, place %d, replace %d\n%s%s",
			len(again.Stop), len(again.Update), len(again.FollowUps), again.DeploymentUpdates, again.Deployment, len(outcome.Place), len(outcome.Stop), w.listing(), w.tree())
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

// heardGone has the nodes that can be heard report what has ended.
func (w *world) heardGone() {
	for _, a := range w.allocations() {
		if a.IsServerTerminal() && !a.IsClientTerminal() && !w.isSilent(a.NodeID) {
			w.say("finish", []*api.Allocation{a})
		}
	}
}

// checkInstances checks that no place is held twice, unless a node was out of
// reach and that is allowed for, and that nothing runs that should not.
func (w *world) checkInstances(t *rapid.T) {
	job := w.newest()
	held := map[string][]*api.Allocation{}
	for _, a := range w.allocations() {
		if a.IsTerminal() {
			continue
		}
		place := a.Name
		switch {
		case job.RunsOnEveryNode():
			place += "@" + a.NodeID
		case a.IsCanary():
			place += "!"
		}
		held[place] = append(held[place], a)
		g := job.Group(a.Group)
		if job.Stop || g == nil || g.Size() == 0 || !job.RunsOnEveryNode() && a.Index() >= g.Size() {
			t.Fatalf("%s should not run any more", a.Name)
		}
	}
	for place, claims := range held {
		sure := slices.DeleteFunc(slices.Clone(claims), func(a *api.Allocation) bool {
			return a.ClientStatus == api.AllocClientUnknown || w.isSilent(a.NodeID) || w.isEvacuated(a)
		})
		d := job.Group(claims[0].Group).Disconnect
		switch newest := claims[len(claims)-1]; {
		case len(claims) == 1:
		case len(sure) < 2:
		case len(sure) == 2 && d != nil && *d.Reconcile == api.ReconcileKeepReplacement && newest.ClientStatus == api.AllocClientPending:
		default:
			t.Fatalf("%d allocations hold %s, and %d of them are known to run\n%s%s", len(claims), place, len(sure), w.listing(), w.tree())
		}
	}
}

// isEvacuated reports whether the allocation leaves a node that is drained.
func (w *world) isEvacuated(a *api.Allocation) bool {
	n := w.snapshot().Node(a.NodeID)
	return a.DesiredTransition.ShouldMigrate() && n != nil && n.DrainStrategy != nil
}

// checkReasons checks what the plans say of every step against what is stored.
func (w *world) checkReasons(t *rapid.T, o *placement.Outcome) {
	for _, p := range w.plans() {
		for _, ph := range p.Phases {
			for _, st := range ph.Steps {
				a := w.snapshot().Allocation(st.Allocation)
				problem := ""
				switch st.Status {
				case tree.Prepared:
					if e := w.snapshot().BlockedEvaluation(api.DefaultNamespace, w.job); o.Queued[st.Group] == 0 || e == nil || e.QueuedAllocations[st.Group] == 0 {
						problem = "nothing of its group is queued"
					}
				case tree.Delayed:
					e := w.snapshot().Evaluation(a.FollowupEvalID)
					if e == nil || e.IsTerminal() || e.WaitUntil.After(st.Until.Add(time.Second)) || !st.Until.After(w.now) {
						problem = fmt.Sprintf("no evaluation is due at %s: %+v", st.Until, e)
					}
				case tree.Starting, tree.Started:
					if a == nil || a.IsClientTerminal() || a.IsServerTerminal() != (p.Name == api.PlanDecommission) {
						problem = "nothing is under way"
					}
				case tree.Error, tree.Waiting:
					if st.Message == "" {
						problem = "no reason is given"
					}
				}
				if problem != "" {
					t.Fatalf("%s: %s is %s (%s), and %s\n%s%s", p.Name, st.Name, st.Status, st.Message, problem, w.listing(), w.tree())
				}
			}
		}
	}
}

// checkEverywhere checks that a job that runs on every node has, or had, an
// allocation on each one that suits, or waits for its room.
func (w *world) checkEverywhere(t *rapid.T, o *placement.Outcome) {
	job := w.newest()
	if !job.RunsOnEveryNode() || job.Stop {
		return
	}
	if d := w.snapshot().LatestDeployment(job.Namespace, job.ID); d != nil && d.JobVersion == job.Version && (d.Status == api.DeploymentPaused || d.IsActive() && (len(job.Groups) > 1 || d.NeedsPromotion())) {
		return // held by an operator, or the second group's turn has not come
	}
	for _, g := range job.Groups {
		missing := 0
		for n := range w.snapshot().Nodes() {
			there := slices.ContainsFunc(w.allocations(), func(a *api.Allocation) bool {
				return a.Group == g.Name && a.NodeID == n.ID && !a.IsServerTerminal()
			})
			if _, suits := placement.IsFeasible(job, g, n); suits && n.IsReady() && g.Size() > 0 && !there {
				missing++
			}
		}
		if missing > o.Queued[g.Name] {
			t.Fatalf("%s is missing on %d nodes, and %d are queued", g.Name, missing, o.Queued[g.Name])
		}
	}
}
