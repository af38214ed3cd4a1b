// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/state"
)

// stackPlan returns a plan of a stack.
func (c *cluster) stackPlan(stack, name string) *api.Plan {
	c.Helper()
	p, _, err := c.JobPlan(c.Context(), "default", stack, name)
	if err != nil {
		c.Fatalf("plan %s of %s: %v", name, stack, err)
	}
	return p
}

// planNames lists the plans of a stack with their statuses.
func (c *cluster) planNames(stack string) (names []string) {
	c.Helper()
	list, _, err := c.JobPlans(c.Context(), "default", stack)
	if err != nil {
		c.Fatalf("plans of %s: %v", stack, err)
	}
	for _, p := range list {
		names = append(names, p.Name+" "+string(p.Status))
	}
	return names
}

// stackVerb applies a verb to a plan of a stack. Part is "", "PHASE" or "PHASE STEP".
func (c *cluster) stackVerb(stack, plan string, verb api.Verb, part string) (*api.PlanResponse, error) {
	phase, step, _ := strings.Cut(part, " ")
	return c.PlanVerb(c.Context(), "default", stack, plan, verb, &api.PlanRequest{Phase: phase, Step: step, By: "ann", Reason: "demo"})
}

func (c *cluster) mustVerb(stack, plan string, verb api.Verb, part string) *api.Plan {
	c.Helper()
	res, err := c.stackVerb(stack, plan, verb, part)
	if err != nil {
		c.Fatalf("%s %s %s of %s: %v", verb, plan, part, stack, err)
	}
	if res.Decision == nil || res.Decision.By != "ann" || res.Decision.Reason != "demo" || res.Decision.Plan != plan {
		c.Errorf("%s %s: decision %+v, want it with who and why", verb, plan, res.Decision)
	}
	return res.Plan
}

// refusedVerb checks that a verb is refused with words, and changes nothing.
func (c *cluster) refusedVerb(stack, plan string, verb api.Verb, part, words string) {
	c.Helper()
	c.pass(0)
	before := c.Store().Snapshot()
	_, err := c.stackVerb(stack, plan, verb, part)
	if api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), words) {
		c.Errorf("%s %s %s: %v, want a conflict with %q", verb, plan, part, err, words)
	}
	if after := c.Store().Snapshot(); after.Index() != before.Index() {
		c.Errorf("the refused %s %s %s changed the state from index %d to %d", verb, plan, part, before.Index(), after.Index())
	}
}

// shiftingStack deploys two versions of inventory and returns the second, to which traffic shifts.
func (c *cluster) shiftingStack(spec *api.ShiftSpec) (from, to string) {
	c.Helper()
	from = c.deploy(stackJob("inventory", "1.0.0"))[0]
	c.untilStack(from, api.StackReady, time.Minute)
	job := stackJob("inventory", "1.1.0")
	job.Stack.Shift = spec
	to = c.deploy(job)[0]
	c.untilStack(to, api.StackReady, time.Minute)
	return from, to
}

func TestPlansOfAStackShowItsLife(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.deploy(stackJob("db", "2.0.0")) // without a node it keeps deploying, and its caller waits for it
		c.pass(time.Second)
		caller := stackJob("web", "1.0.0", "db@2.0")
		caller.Stack.Depends[0].Optional = true
		waiting := c.deploy(caller)[0]
		if diff := cmp.Diff([]string{"deploy PENDING", "warming PENDING"}, c.planNames(waiting)); diff != "" {
			t.Errorf("plans of a pending stack (-want +got):\n%s", diff)
		}
		if p := c.stackPlan(waiting, api.PlanDeploy); p.Total != 2 || p.Completed != 0 || p.Phases[0].Steps[0].Status != api.PlanPending || p.Message == "" {
			t.Errorf("plan deploy of a pending stack: %s", view.Draw(p))
		}
		all, _, err := c.Plans(c.Context(), "*")
		if err != nil || len(all) != 4 || all[2].JobID != waiting {
			t.Errorf("all plans: %v (%v), want two of each stack by name, and those of the pending one last", all, err)
		}
		c.refusedVerb(waiting, api.PlanDeploy, api.VerbInterrupt, "", "not registered yet; possible: reeve stack hold")

		c.addNode("n1", nil)
		c.addNode("n2", nil)
		c.untilStack(waiting, api.StackReady, time.Minute)
		_, to := c.shiftingStack(nil)
		if diff := cmp.Diff([]string{"deploy COMPLETE", "shift IN_PROGRESS"}, c.planNames(to)); diff != "" {
			t.Errorf("plans during the shift (-want +got):\n%s", diff)
		}
		c.pass(25 * time.Minute)
		if diff := cmp.Diff([]string{"deploy COMPLETE", "shift COMPLETE"}, c.planNames(to)); diff != "" {
			t.Errorf("plans after the shift (-want +got):\n%s", diff)
		}
		if _, err := c.StackVerb(c.Context(), "default", to, "stop", &api.StackVerbRequest{By: "ann"}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"deploy COMPLETE", "uninstall DELAYED"}, c.planNames(to)); diff != "" {
			t.Errorf("plans of garbage (-want +got):\n%s", diff)
		}
		p := c.stackPlan(to, api.PlanUninstall)
		ids := []string{p.ID, p.Phases[1].Steps[0].ID}
		c.untilStack(to, api.StackTerminated, 26*time.Hour)
		p = c.stackPlan(to, api.PlanUninstall)
		if p.Status != api.PlanComplete || p.Total != 4 || p.Completed != 4 || len(p.Phases) != 3 {
			t.Errorf("plan uninstall after the removal:\n%s", view.Draw(p))
		}
		if all, _, err = c.Plans(c.Context(), "default"); err != nil || !slices.ContainsFunc(all, func(p *api.Plan) bool { return p.JobID == to && p.Total == 4 }) {
			t.Errorf("all plans (%v) lack the whole plan of the removed stack", err)
		}
		if diff := cmp.Diff(ids, []string{p.ID, p.Phases[1].Steps[0].ID}); diff != "" {
			t.Errorf("ids before and after the removal:\n%s", diff)
		}
		c.pass(11 * time.Minute)
		if _, _, err := c.JobPlans(c.Context(), "default", to); api.CodeOf(err) != api.CodeNotFound || !strings.Contains(err.Error(), "reeve stack why") {
			t.Errorf("plans of a stack that was removed long ago: %v", err)
		}
	})
}

func TestVerbsOnThePlanShiftChangeTheShift(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		from, to := c.shiftingStack(nil)
		c.pass(3 * time.Minute)
		p := c.mustVerb(to, api.PlanShift, api.VerbInterrupt, "")
		if p.Status != api.PlanWaiting || !p.Interrupted || p.Message != "paused by ann: demo" {
			t.Errorf("after interrupt:\n%s", view.Draw(p))
		}
		c.pass(time.Hour)
		if again := c.stackPlan(to, api.PlanShift); again.Completed != 1 || again.Status != api.PlanWaiting {
			t.Errorf("an hour later:\n%s", view.Draw(again))
		}
		c.refusedVerb(to, api.PlanShift, api.VerbInterrupt, "", "possible: continue, force-complete, stop")
		c.refusedVerb(to, api.PlanShift, api.VerbStart, "", "possible: continue")
		c.refusedVerb(to, api.PlanShift, api.VerbContinue, "traffic 50%", "has not started")
		c.mustVerb(to, api.PlanShift, api.VerbContinue, "traffic 20%")
		c.refusedVerb(to, api.PlanShift, api.VerbContinue, "", "possible: interrupt")
		c.refusedVerb(to, api.PlanShift, api.VerbForceComplete, "traffic 10%", "it is complete")
		c.refusedVerb(to, api.PlanShift, api.VerbRestart, "traffic 20%", "only the pause in progress")
		p = c.mustVerb(to, api.PlanShift, api.VerbForceComplete, "traffic 50%")
		if p.Completed != 5 || p.Status != api.PlanInProgress || p.Phases[0].Steps[4].Forced == nil {
			t.Errorf("after force-complete of 50%%:\n%s", view.Draw(p))
		}
		c.pass(2*time.Minute + 5*time.Second)
		if p = c.stackPlan(to, api.PlanShift); p.Completed != 6 {
			t.Errorf("the shift does not continue from 50 %%:\n%s", view.Draw(p))
		}
		c.refusedVerb(to, api.PlanShift, api.VerbStop, "traffic", "name no phase or step")
		p = c.mustVerb(to, api.PlanShift, api.VerbStop, "")
		if p.Status != api.PlanInProgress || len(p.Phases) != 2 {
			t.Errorf("while it reverses:\n%s", view.Draw(p))
		}
		c.refusedVerb(to, api.PlanShift, api.VerbContinue, "", "possible: force-complete of phase reverse")
		p = c.mustVerb(to, api.PlanShift, api.VerbForceComplete, "reverse")
		if p.Status != api.PlanError || !strings.Contains(p.Errors[0], "reversed by ann: demo; all traffic is on "+from) {
			t.Errorf("after the reversal: %v\n%s", p.Errors, view.Draw(p))
		}
		c.refusedVerb(to, api.PlanShift, api.VerbRestart, "", "reeve stack shift -to "+to)
		if _, err := c.stackVerb(to, api.PlanShift, api.VerbStop, "traffic 55%"); api.CodeOf(err) != api.CodeNotFound || !strings.Contains(err.Error(), "traffic: 50%") {
			t.Errorf("an unknown step: %v, want the steps that exist", err)
		}
		verbs := []string{}
		for _, d := range c.stackPlan(to, api.PlanShift).Decisions {
			verbs = append(verbs, string(d.Verb))
		}
		if diff := cmp.Diff([]string{"interrupt", "continue", "force-complete", "stop", "force-complete"}, verbs); diff != "" {
			t.Errorf("decisions (-want +got):\n%s", diff)
		}
	})
}

func TestShiftBySteps(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		_, to := c.shiftingStack(&api.ShiftSpec{Policy: api.ShiftSteps, Steps: []string{"5%", "5m", "25%", "wait", "50%", "10m"}})
		step := func() string {
			c.Helper()
			p := c.stackPlan(to, api.PlanShift)
			for _, st := range p.Phases[0].Steps {
				if st.Status != api.PlanComplete {
					return st.Name + " " + string(st.Status) + " of " + string(p.Status)
				}
			}
			return string(p.Status)
		}
		expect := func(what, want string) {
			c.Helper()
			if got := step(); got != want {
				c.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		c.pass(time.Minute)
		expect("after a minute", "5m at 5% STARTED of IN_PROGRESS")
		if m := c.stackPlan(to, api.PlanShift).Phases[0].Steps[1].Message; !strings.HasPrefix(m, "5 % of the traffic; continues at ") {
			t.Errorf("message of the pause: %q", m)
		}
		c.pass(3 * time.Minute)
		c.mustVerb(to, api.PlanShift, api.VerbRestart, "traffic 5m at 5%")
		c.pass(4 * time.Minute)
		expect("the pause began again", "5m at 5% STARTED of IN_PROGRESS")
		c.pass(90 * time.Second)
		expect("after the pause", "wait at 25% WAITING of WAITING")
		c.refusedVerb(to, api.PlanShift, api.VerbInterrupt, "", "possible: continue")
		c.pass(time.Hour)
		expect("an hour later", "wait at 25% WAITING of WAITING")
		c.mustVerb(to, api.PlanShift, api.VerbForceComplete, "traffic wait at 25%")
		c.pass(time.Minute)
		expect("past the wait", "10m at 50% STARTED of IN_PROGRESS")
		c.mustVerb(to, api.PlanShift, api.VerbForceComplete, "traffic 10m at 50%")
		c.pass(10 * time.Second)
		expect("at the end", "COMPLETE")
	})
}

func TestUninstallWaitsForNodesThatDoNotAnswer(t *testing.T) {
	simulate(t, func(c *cluster) {
		node := c.addNode("n1", nil)
		stack := c.deploy(stackJob("inventory", "1.0.0"))[0]
		c.untilStack(stack, api.StackReady, time.Minute)
		if _, err := c.StackVerb(c.Context(), "default", stack, "stop", &api.StackVerbRequest{By: "ann"}); err != nil {
			t.Fatal(err)
		}
		c.pass(23 * time.Hour)
		node.kill()
		c.pass(5 * time.Hour)
		s := c.Store().Snapshot().Stack("default", stack)
		if s.Status != api.StackGarbage || !s.Removing || !strings.Contains(s.StatusText(), "node n1") {
			t.Fatalf("the stack is %s (%s) while its node is away, want it garbage, and the node", s.Status, s.StatusText())
		}
		p := c.stackPlan(stack, api.PlanUninstall)
		if p.Status != api.PlanInProgress || !strings.Contains(view.Draw(p), "its node does not answer") {
			t.Errorf("while the node is away:\n%s", view.Draw(p))
		}
		for _, verb := range []string{"rescue", "hold"} {
			if _, err := c.StackVerb(c.Context(), "default", stack, verb, nil); api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), "reeve plan show "+stack+" uninstall") {
				t.Errorf("%s during the removal: %v", verb, err)
			}
		}
		c.addNode("n1", nil)
		c.untilStack(stack, api.StackTerminated, 10*time.Minute)
		var actions []string
		for r := range c.Store().Snapshot().Audit("default", api.AuditStack, stack) {
			actions = append(actions, r.Action)
		}
		if diff := cmp.Diff([]string{"garbage", "removed", "waits", "terminated"}, actions[slices.Index(actions, "garbage"):]); diff != "" {
			t.Errorf("audit records (-want +got):\n%s", diff)
		}
	})
}

func TestARemovedStackNamesTheNodeThatDidNotConfirmItsEnd(t *testing.T) {
	simulate(t, func(c *cluster) {
		node := c.addNode("n1", nil)
		node.mu.Lock()
		node.endsAfter = time.Hour
		node.mu.Unlock()
		stack := c.deploy(stackJob("inventory", "1.0.0"))[0]
		c.untilStack(stack, api.StackReady, time.Minute)
		if _, err := c.StackVerb(c.Context(), "default", stack, "stop", &api.StackVerbRequest{By: "ann", Now: true}); err != nil {
			t.Fatal(err)
		}
		c.pass(10 * time.Second)
		if s := c.Store().Snapshot().Stack("default", stack); s.Status != api.StackGarbage {
			t.Fatalf("the stack is %s (%s) while its instances end, want garbage", s.Status, s.StatusText())
		}
		node.kill()
		c.untilStack(stack, api.StackTerminated, time.Hour)
		if s := c.Store().Snapshot().Stack("default", stack); s.StatusReason != api.ReasonStackUnconfirmed || !strings.Contains(s.StatusText(), "node n1 fell silent") {
			t.Errorf("the stack is terminated with %s (%s), want that node n1 may still run it", s.StatusReason, s.StatusText())
		}
	})
}

func TestOperatorGivesUpInstancesOfGarbageOnANodeThatIsAway(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("n1", nil)
		stack := c.deploy(stackJob("inventory", "1.0.0"))[0]
		c.untilStack(stack, api.StackReady, time.Minute)
		if _, err := c.StackVerb(c.Context(), "default", stack, "stop", &api.StackVerbRequest{By: "ann"}); err != nil {
			t.Fatal(err)
		}
		c.refusedVerb(stack, api.PlanUninstall, api.VerbForceComplete, "kill", "it comes after phase grace")
		c.refusedVerb(stack, api.PlanUninstall, api.VerbContinue, "", "possible: interrupt, which holds the stack")
		p := c.mustVerb(stack, api.PlanUninstall, api.VerbInterrupt, "")
		if p.Status != api.PlanWaiting || !p.Interrupted {
			t.Errorf("after interrupt:\n%s", view.Draw(p))
		}
		c.pass(48 * time.Hour)
		c.untilStack(stack, api.StackGarbage, time.Second)
		c.mustVerb(stack, api.PlanUninstall, api.VerbContinue, "")
		c.nodes["n1"].kill()
		c.within(26*time.Hour, "the removal waits", func(snap *state.Snapshot) bool {
			return !snap.Stack("default", stack).RemovalWaits.IsZero()
		})
		c.mustVerb(stack, api.PlanUninstall, api.VerbForceComplete, "kill")
		c.untilStack(stack, api.StackTerminated, time.Minute)
		if p := c.stackPlan(stack, api.PlanUninstall); p.Status != api.PlanComplete || len(p.Decisions) != 3 {
			t.Errorf("after the removal, with %d decisions:\n%s", len(p.Decisions), view.Draw(p))
		}
	})
}
