// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/view"
)

// TestAnyRollout lets random things happen to a job with a random declared plan:
// health, failures, operators' verbs, new versions, and restarts of the server.
// After each it checks that the strategies are obeyed; in the end, when
// everybody does his part, the plan is complete, or says what it waits for.
func TestAnyRollout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for i := range 3 {
			w.addNode(fmt.Sprintf("n%d", i+1), 10000, 10000, "dc1", nil)
		}
		r := &rollout{world: w, begun: map[string]bool{}}
		r.register(t)
		t.Repeat(map[string]func(*rapid.T){
			"register": func(t *rapid.T) {
				if rapid.IntRange(0, 3).Draw(t, "really") == 0 {
					r.register(t)
				}
			},
			"report":  func(t *rapid.T) { r.report(t) },
			"report2": func(t *rapid.T) { r.report(t) },
			"decide":  func(t *rapid.T) { r.decide(t) },
			"time":    func(t *rapid.T) { w.after("31s"); r.evaluate(t) },
			"server":  func(t *rapid.T) { r.restartServer(t) },
		})
		r.finish(t)
	})
}

// A rollout is a world in which one job is deployed by a declared plan.
type rollout struct {
	*world
	// begun are the steps, by phase and name, that were under way when an operator
	// had them done again, or counted as complete only because he had said so: that
	// begins nothing, it is the same instances that are not well yet.
	begun map[string]bool
}

// register declares a random plan over two groups.
func (r *rollout) register(t *rapid.T) {
	phaseStrategies := []string{"serial", "serial", "parallel", "serial-canary", "parallel-canary"}
	plan := rapid.SampledFrom([]string{"serial", "parallel", "dependency"}).Draw(t, "plan strategy")
	lines := []string{}
	steps := map[string]bool{}
	for _, g := range []string{"a", "b"} {
		lines = append(lines, fmt.Sprintf("group %s count=%d env=%d delay=30s", g, rapid.IntRange(1, 4).Draw(t, "count"), rapid.IntRange(0, 2).Draw(t, "env")))
		if steps[g] = rapid.Bool().Draw(t, "steps"); steps[g] {
			lines = append(lines, "task init goal="+rapid.SampledFrom([]string{"finish", "once"}).Draw(t, "goal"),
				fmt.Sprintf("task server env=%d", rapid.IntRange(0, 2).Draw(t, "server env")))
		}
	}
	lines = append(lines, "plan deploy strategy="+plan)
	for _, g := range []string{"a", "b"} {
		strategy := rapid.SampledFrom(phaseStrategies).Draw(t, "phase strategy")
		line := "phase " + g + " strategy=" + strategy
		if strings.HasPrefix(strategy, "serial") {
			line += " max_parallel=" + rapid.SampledFrom([]string{"1", "2", "50%"}).Draw(t, "max_parallel")
		}
		if plan == "dependency" && g == "a" && rapid.Bool().Draw(t, "after") {
			line += " after=b"
		}
		lines = append(lines, line)
		if steps[g] {
			lines = append(lines, "step tasks=init", "step tasks=server")
		}
	}
	r.world.register([]string{"web"}, lines)
	r.begun = map[string]bool{}
	r.evaluate(t)
}

// report has a node say something of an allocation, or of a task of it.
func (r *rollout) report(t *rapid.T) {
	live := r.audible()
	if len(live) == 0 {
		return
	}
	a := rapid.SampledFrom(live).Draw(t, "allocation")
	switch what := rapid.SampledFrom([]string{"start", "healthy", "healthy", "healthy", "fail", "gone"}).Draw(t, "what"); what {
	case "fail":
		r.say("fail", []*api.Allocation{a})
	case "gone":
		r.allGone()
	default:
		r.wellOrNot(a, what == "healthy")
	}
	r.evaluate(t)
}

// wellOrNot has the node say that the tasks that are to run do, and are well as
// far as that is known now.
func (r *rollout) wellOrNot(a *api.Allocation, well bool) {
	awaited := false
	if a.Launches != nil {
		for _, l := range a.Launches.Tasks {
			awaited = awaited || l.Await && l.Token == ""
		}
	}
	r.world.report(a, func(u *api.Allocation) {
		u.ClientStatus, u.TaskStates = api.AllocClientRunning, r.running(a, false)
		if a.Launches != nil {
			u.LaunchStatus = &api.LaunchStatus{ID: a.Launches.ID, Timestamp: r.now}
			if well {
				u.LaunchStatus.Healthy = &well
			}
		}
		if well && !awaited {
			u.DeploymentStatus = &api.AllocDeploymentStatus{Healthy: &well, Timestamp: r.now}
		}
	})
}

// decide has an operator do anything to any element; whether it makes sense is
// up to the plan.
func (r *rollout) decide(t *rapid.T) {
	verb := rapid.SampledFrom([]api.Verb{
		api.VerbContinue, api.VerbContinue, api.VerbContinue, api.VerbInterrupt, api.VerbForceComplete, api.VerbRestart,
	}).Draw(t, "verb")
	req := &api.PlanRequest{By: "op"}
	name := rapid.SampledFrom([]string{api.PlanDeploy, api.PlanDeploy, api.PlanRecovery}).Draw(t, "which")
	p := r.planOf(name)
	if p == nil {
		return
	}
	if level := rapid.IntRange(0, 2).Draw(t, "level"); level > 0 && len(p.Phases) > 0 {
		ph := rapid.SampledFrom(p.Phases).Draw(t, "phase")
		req.Phase = ph.Name
		if level > 1 && len(ph.Steps) > 0 {
			req.Step = rapid.SampledFrom(ph.Steps).Draw(t, "step").Name
		}
	}
	before := r.plan()
	if err := r.decided(name, verb, req); err != nil {
		if diff := cmp.Diff(before, r.plan()); diff != "" {
			t.Fatalf("%s was refused (%v), and changed the plan:\n%s", verb, err, diff)
		}
		return
	}
	for _, ph := range before.Phases {
		for _, st := range ph.Steps {
			if verb == api.VerbRestart && name == api.PlanDeploy && (isUnderWay(st) || st.Forced != nil && r.isUnwell(st)) {
				r.begun[ph.Name+" "+st.Name] = true
			}
		}
	}
	r.evaluate(t)
}

// restartServer checks that a server that reads its disk again shows the same.
func (r *rollout) restartServer(t *rapid.T) {
	before := r.plans()
	r.world.restartServer()
	if diff := cmp.Diff(before, r.plans(), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("the plans are others after a restart of the server:\n%s", diff)
	}
}

func (r *rollout) plan() *api.Plan { return r.planOf(api.PlanDeploy) }

func (r *rollout) planOf(name string) *api.Plan {
	v := view.Derive(r.snapshot(), r.key(), r.newest(), r.now)
	defer v.Release()
	return v.Plan(name)
}

// evaluate evaluates, and checks what is begun by that.
func (r *rollout) evaluate(t *rapid.T) {
	before, ran := r.plan(), r.runs()
	result, _ := r.world.evaluate(r.evaluation())
	r.checkHeld(t, result)
	r.after("0s") // what the evaluation wants evaluated at once
	after := r.plan()
	if before != nil && before.JobVersion == after.JobVersion {
		r.checkBegun(t, before, after, ran)
	}
	r.checkOrder(t, after)
	r.checkWaits(t, after)
	if again, o := r.compute(r.evaluation()); len(again.Stop)+len(again.Update)+len(again.DeploymentUpdates)+len(o.Place) > 0 {
		t.Fatalf("evaluating again does more: %+v %+v\n%s%s", again.Update, o.Place, r.listing(), r.tree())
	}
}

// A run is one that is wanted of a task of an allocation.
type run struct{ allocation, task, token string }

// runs are all that are wanted now.
func (r *rollout) runs() map[run]bool {
	all := map[run]bool{}
	for _, a := range r.allocations() {
		for _, t := range a.Job.Group(a.Group).Tasks {
			all[runOf(a, t.Name)] = true
		}
	}
	return all
}

func runOf(a *api.Allocation, task string) run {
	if a.Launches != nil && a.Launches.Tasks[task] != nil {
		return run{a.ID, task, a.Launches.Tasks[task].Token}
	}
	return run{a.ID, task, "from its beginning"}
}

// goesOn reports whether the step runs nothing that did not run before: an
// allocation that gets a newer version in place is left alone by that, and waits for
// nobody.
func (r *rollout) goesOn(st *api.Step, ran map[run]bool) bool {
	a := r.snapshot().Allocation(st.Allocation)
	return a != nil && !slices.ContainsFunc(st.Tasks, func(task string) bool { return !ran[runOf(a, task)] })
}

// isUnderWay reports whether the step was begun and is not complete.
func isUnderWay(st *api.Step) bool {
	return st.Status == api.PlanPrepared || st.Status == api.PlanStarting || st.Status == api.PlanStarted
}

// isUnwell reports whether the step's allocation runs, or is to, and is not known to
// be well.
func (r *rollout) isUnwell(st *api.Step) bool {
	a := r.snapshot().Allocation(st.Allocation)
	return a != nil && !a.IsTerminal() && !a.IsHealthy()
}

// checkBegun checks that an evaluation begins nothing that is held, nothing whose
// turn has not come, and no more at a time than the strategy lets.
func (r *rollout) checkBegun(t *rapid.T, before, after *api.Plan, ran map[run]bool) {
	complete := map[string]bool{}
	for _, ph := range after.Phases {
		complete[ph.Name] = ph.Status == api.PlanComplete
	}
	for i, ph := range after.Phases {
		was := before.Phases[i]
		underWay, begins := map[int]bool{}, 0 // by instance: two steps of one are worked on at once where the first is redone
		for j, st := range ph.Steps {
			old := was.Steps[j]
			// What recovery starts anew with this very evaluation did not run before:
			// it does not ask the strategy of another plan.
			if isUnderWay(st) && (r.goesOn(st, ran) || !r.isRecovered(st, ran)) {
				underWay[st.Index] = true
			}
			if !isUnderWay(st) || isUnderWay(old) || old.Allocation != "" && old.Status == api.PlanDelayed || old.Status == api.PlanComplete || r.isRecovered(st, ran) || r.goesOn(st, ran) {
				continue
			}
			if !r.begun[ph.Name+" "+st.Name] {
				begins++
			}
			switch {
			case after.Interrupted, ph.Interrupted, st.Interrupted:
				t.Fatalf("%s was begun although it is interrupted:\n%s", st.Name, view.Draw(after))
			case j > 0 && ph.Steps[j-1].Index == st.Index && ph.Steps[j-1].Status != api.PlanComplete:
				t.Fatalf("%s was begun before %s was complete:\n%s", st.Name, ph.Steps[j-1].Name, view.Draw(after))
			}
			for _, name := range ph.After {
				if !complete[name] {
					t.Fatalf("%s was begun before phase %s was complete:\n%s", st.Name, name, view.Draw(after))
				}
			}
			for _, earlier := range after.Phases[:i] {
				if after.Strategy == api.StrategySerial && !complete[earlier.Name] {
					t.Fatalf("%s was begun before phase %s was complete:\n%s", st.Name, earlier.Name, view.Draw(after))
				}
			}
		}
		if begins > 0 && strings.HasPrefix(ph.Strategy, api.StrategySerial) && len(underWay) > max(ph.MaxParallel, 1) {
			t.Fatalf("%d instances of %s are under way, and %d may be:\n%s", len(underWay), ph.Name, ph.MaxParallel, view.Draw(after))
		}
	}
}

// isRecovered reports whether the step is under way because recovery has just
// started its instance anew.
func (r *rollout) isRecovered(st *api.Step, ran map[run]bool) bool {
	a := r.snapshot().Allocation(st.Allocation)
	for is := range ran {
		if is.allocation == st.Allocation {
			return false
		}
	}
	return a != nil && a.RescheduleTracker != nil
}

// checkOrder checks that of two steps of one instance the second is not launched
// before the first is complete.
func (r *rollout) checkOrder(t *rapid.T, p *api.Plan) {
	for _, ph := range p.Phases {
		for j, st := range ph.Steps {
			if j > 0 && ph.Steps[j-1].Index == st.Index && isUnderWay(st) && ph.Steps[j-1].Status == api.PlanPending && !slices.ContainsFunc(p.Decisions, func(d *api.Decision) bool { return d.Verb == api.VerbRestart }) {
				t.Fatalf("%s runs before %s:\n%s", st.Name, ph.Steps[j-1].Name, view.Draw(p))
			}
		}
	}
}

// checkWaits checks that whatever waits says for what.
func (r *rollout) checkWaits(t *rapid.T, p *api.Plan) {
	for _, ph := range p.Phases {
		for _, st := range ph.Steps {
			switch {
			case (st.Status == api.PlanWaiting || st.Status == api.PlanDelayed || st.Status == api.PlanError) && st.Message == "",
				st.Status == api.PlanDelayed && !st.Until.After(r.now),
				st.Forced != nil && st.Status != api.PlanComplete:
				t.Fatalf("%s is %s: %q until %s:\n%s", st.Name, st.Status, st.Message, st.Until, view.Draw(p))
			}
		}
		if ph.Status == api.PlanError && !slices.ContainsFunc(ph.Steps, func(st *api.Step) bool { return st.Status == api.PlanError }) {
			t.Fatalf("phase %s is in error, and no step is:\n%s", ph.Name, view.Draw(p))
		}
	}
}

// finish has everybody do his part: nodes report health, operators continue what
// waits, time passes. Then the plan has to be complete.
func (r *rollout) finish(t *rapid.T) {
	for range 200 {
		p := r.plan()
		if p.Status == api.PlanComplete && !p.Interrupted {
			return
		}
		r.allGone()
		for _, a := range r.audible() {
			r.wellOrNot(a, true)
		}
		r.now = r.now.Add(31 * time.Second)
		r.evaluate(t)
		for _, name := range []string{api.PlanDeploy, api.PlanRecovery} {
			if p := r.planOf(name); p != nil {
				r.continueAll(p)
			}
		}
		r.evaluate(t)
	}
	p := r.plan()
	if p.Status == api.PlanError && len(p.Errors) > 0 {
		return
	}
	t.Fatalf("everybody did his part, and the plan is not complete:\n%s%s", r.tree(), r.listing())
}

// continueAll has an operator continue whatever waits for him.
func (r *rollout) continueAll(p *api.Plan) {
	_ = r.decided(p.Name, api.VerbContinue, &api.PlanRequest{})
	for _, ph := range p.Phases {
		if ph.Interrupted || ph.Status == api.PlanWaiting {
			_ = r.decided(p.Name, api.VerbContinue, &api.PlanRequest{Phase: ph.Name})
		}
		for _, st := range ph.Steps {
			if st.Interrupted {
				_ = r.decided(p.Name, api.VerbContinue, &api.PlanRequest{Phase: ph.Name, Step: st.ID})
			}
		}
	}
}
