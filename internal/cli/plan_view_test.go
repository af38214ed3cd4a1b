// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// planStep is a step of a test's tree.
func planStep(group string, index int, status api.PlanStatus, tasks ...string) *api.Step {
	name := fmt.Sprintf("%s:[%s]", api.InstanceName(group, index), strings.Join(tasks, ", "))
	return &api.Step{
		ID: "step " + name, Name: name, Status: status, Group: group, Index: index, Tasks: tasks,
		Since: testNow.Add(-12 * time.Second), Allocation: fmt.Sprintf("%08x-0000-4000-8000-000000000000", 0xa0+index),
	}
}

func planPhase(name, strategy string, status api.PlanStatus, steps ...*api.Step) *api.Phase {
	phase := &api.Phase{ID: "phase " + name, Name: name, Group: name, Strategy: strategy, Status: status, Steps: steps, Total: len(steps)}
	for _, s := range steps {
		if s.Status == api.PlanComplete {
			phase.Completed++
		}
	}
	return phase
}

func planTree(name string, status api.PlanStatus, phases ...*api.Phase) *api.Plan {
	pl := &api.Plan{
		ID: "plan " + name, Name: name, Namespace: "default", JobID: "web", JobVersion: 2, Strategy: api.StrategySerial,
		Status: status, Phases: phases, Since: testNow.Add(-90 * time.Second),
	}
	for _, phase := range phases {
		pl.Completed += phase.Completed
		pl.Total += phase.Total
	}
	return pl
}

// canaryPlan waits for the second "continue" of a canary.
func canaryPlan() *api.Plan {
	waiting := planStep("world", 1, api.PlanWaiting, "server", "sidecar")
	waiting.Allocation, waiting.Message = "", "a canary: waits for \"continue\""
	forced := planStep("hello", 1, api.PlanComplete, "server")
	forced.Forced = &api.Decision{
		ID: "d1", Verb: api.VerbForceComplete, Plan: "deploy", Phase: "hello", Step: forced.Name, By: "bob@desk",
		Reason: "100% sure", Time: ago(3 * time.Minute),
	}
	pl := planTree(api.PlanDeploy, api.PlanWaiting,
		planPhase("hello", api.StrategySerial, api.PlanComplete, planStep("hello", 0, api.PlanComplete, "server"), forced),
		planPhase("world", api.StrategySerialCanary, api.PlanWaiting,
			planStep("world", 0, api.PlanComplete, "server", "sidecar"), waiting,
			planStep("world", 2, api.PlanPending, "server", "sidecar")))
	pl.Run = deplID
	pl.Decisions = []*api.Decision{forced.Forced, {
		ID: "d2", Verb: api.VerbContinue, Plan: "deploy", Phase: "world", By: "alice@laptop", Reason: "looks good", Time: ago(2 * time.Minute),
	}}
	return pl
}

// bigPlan is a phase of many steps, some of which are under way.
func bigPlan(n int) *api.Plan {
	var steps []*api.Step
	for i := range n {
		status := api.PlanPending
		switch {
		case i < n/3:
			status = api.PlanComplete
		case i < n/3+2:
			status = api.PlanStarted
		}
		steps = append(steps, planStep("web", i, status, "server"))
	}
	phase := planPhase("web", api.StrategySerial, api.PlanInProgress, steps...)
	phase.MaxParallel = 2
	return planTree(api.PlanDeploy, api.PlanInProgress, phase)
}

// stuckPlan shows everything that a step may have to say.
func stuckPlan() *api.Plan {
	delayed := planStep("web", 0, api.PlanDelayed, "server")
	delayed.Message, delayed.Until, delayed.Recovery = "it failed 3 times", testNow.Add(47*time.Second), api.RecoveryTransient
	blocked := planStep("web", 1, api.PlanPrepared, "server")
	blocked.Allocation, blocked.Message, blocked.Recovery = "", "no node has enough memory", api.RecoveryPermanent
	broken := planStep("web", 2, api.PlanError, "server")
	broken.Errors = []string{"web-2: exit code 1 after 100%d"}
	held := planStep("web", 3, api.PlanWaiting, "server")
	held.Interrupted, held.Allocation = true, ""
	pl := planTree(api.PlanRecovery, api.PlanError,
		planPhase("web-0:[server]", api.StrategyParallel, api.PlanDelayed, delayed),
		planPhase("web-1:[server]", api.StrategyParallel, api.PlanInProgress, blocked),
		planPhase("web-2:[server]", api.StrategyParallel, api.PlanError, broken),
		planPhase("web-3:[server]", api.StrategyParallel, api.PlanWaiting, held))
	pl.Strategy, pl.Namespace = api.StrategyParallel, "team a"
	pl.Errors = broken.Errors
	return pl
}

func customPlan() *api.Plan {
	step := planStep("web", 0, api.PlanPending, "backup")
	step.Allocation = ""
	return planTree("backup", api.PlanWaiting, planPhase("web", api.StrategySerial, api.PlanPending, step))
}

func TestTreesForPeople(t *testing.T) {
	interrupted := bigPlan(4)
	interrupted.Status, interrupted.Interrupted = api.PlanWaiting, true
	trees := []*api.Plan{canaryPlan(), bigPlan(60), stuckPlan(), customPlan(), interrupted, planTree("recovery", api.PlanComplete), {}}
	var b strings.Builder
	for _, pl := range trees {
		p := &page{now: testNow}
		p.planTree(pl, false)
		b.WriteString(p.String() + "\n")
	}
	golden(t, "pages/plan_tree.txt", b.String())
}

func TestPlansAreListed(t *testing.T) {
	list := []*api.Plan{canaryPlan(), stuckPlan(), customPlan(), planTree("recovery", api.PlanComplete)}
	list[0].Message = "phase world waits for \"continue\""
	p := &page{now: testNow}
	p.plans(list, true, true)
	p.WriteByte('\n')
	p.plans(list[3:], false, false)
	golden(t, "pages/plans.txt", p.String())
}

// TestTreeIsAsUpstreamWritesIt checks what programs that read such trees rely
// on.
func TestTreeIsAsUpstreamWritesIt(t *testing.T) {
	pl := planTree(api.PlanDeploy, api.PlanInProgress,
		planPhase("hello", api.StrategySerial, api.PlanComplete, planStep("hello", 0, api.PlanComplete, "server")),
		planPhase("wor%d", api.StrategyParallel, api.PlanInProgress,
			planStep("world", 0, api.PlanComplete, "server", "side%car"), planStep("world", 1, api.PlanPending, "server", "side%car")))
	var got []string
	for _, line := range treeLines(pl, style{}, testNow, foldNothing) {
		element, _, _ := strings.Cut(line, ")  ")
		got = append(got, strings.TrimSuffix(element, ")")+")")
	}
	want := []string{
		"deploy (serial strategy) (IN_PROGRESS)",
		"├─ hello (serial strategy) (COMPLETE)",
		"│  └─ hello-0:[server] (COMPLETE)",
		"└─ wor%d (parallel strategy) (IN_PROGRESS)",
		"   ├─ world-0:[server, side%car] (COMPLETE)",
		"   └─ world-1:[server, side%car] (PENDING)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestFramesFitTheTerminal draws every tree for terminals of every height.
func TestFramesFitTheTerminal(t *testing.T) {
	var b strings.Builder
	for _, size := range []struct{ width, height int }{{100, 30}, {100, 16}, {60, 9}, {30, 4}} {
		for _, pl := range []*api.Plan{canaryPlan(), bigPlan(60), stuckPlan()} {
			f := frame{now: testNow, started: testNow.Add(-5 * time.Second), width: size.width, height: size.height}
			lines := f.lines(pl)
			if len(lines) >= size.height {
				t.Errorf("%d lines for a terminal of %d", len(lines), size.height)
			}
			fmt.Fprintf(&b, "%s in %d x %d:\n", pl.Name, size.width, size.height)
			for _, line := range lines {
				line = cut(line, size.width)
				if visibleWidth(line) > size.width {
					t.Errorf("%q is wider than %d", line, size.width)
				}
				b.WriteString("| " + line + "\n")
			}
		}
	}
	golden(t, "pages/plan_frames.txt", b.String())
}

func TestFoldedTreesHideOnlyWhatIsQuiet(t *testing.T) {
	pl := bigPlan(60)
	pl.Phases[0].Steps[40].Interrupted, pl.Phases[0].Steps[40].Status = true, api.PlanWaiting
	for f := foldNothing; f < foldRuns; f++ {
		total, named := 0, 0
		for _, row := range f.steps(pl.Phases[0]) {
			total += row.count
			if row.step != nil {
				total++
				if !isQuiet(row.step) {
					named++
				}
			}
		}
		if total != 60 || named != 3 {
			t.Errorf("fold %d: %d steps in all and %d that are not quiet, want 60 and 3", f, total, named)
		}
	}
}

func TestChangesAreToldOnce(t *testing.T) {
	l := planLog{}
	pl := canaryPlan()
	var b strings.Builder
	tell := func(title string, at time.Time) {
		fmt.Fprintf(&b, "# %s\n%s", title, strings.Join(append(l.changes(pl, at), ""), "\n"))
	}
	tell("first", testNow)
	tell("nothing new", testNow.Add(time.Second))
	world := pl.Phases[1]
	world.Steps[1].Status, world.Steps[1].Message = api.PlanStarting, ""
	world.Steps[2].Status, world.Steps[2].Until = api.PlanDelayed, testNow.Add(time.Minute)
	world.Status, pl.Status = api.PlanInProgress, api.PlanInProgress
	pl.Decisions = append(pl.Decisions, &api.Decision{
		ID: "d3", Verb: api.VerbContinue, Plan: "deploy", Phase: "world", By: "alice@laptop", Time: testNow.UnixNano(),
	})
	tell("continued", testNow.Add(2*time.Second))
	pl = bigPlan(60)
	tell("many", testNow.Add(3*time.Second))
	golden(t, "pages/plan_changes.txt", b.String())
}

func TestCut(t *testing.T) {
	for _, test := range []struct {
		line  string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"├─ hello", 4, "├─ …"},
		{"\x1b[32mgreen\x1b[0m and more", 8, "\x1b[32mgreen\x1b[0m a…"},
		{"\x1b[32mgreen\x1b[0m", 3, "\x1b[32mgr…\x1b[0m"},
	} {
		if got := cut(test.line, test.width); got != test.want {
			t.Errorf("cut(%q, %d) = %q, want %q", test.line, test.width, got, test.want)
		}
	}
}

func TestWhatMovesIsWorthFollowing(t *testing.T) {
	deploy, recovery := planTree(api.PlanDeploy, api.PlanWaiting), planTree(api.PlanRecovery, api.PlanDelayed)
	backup := planTree("backup", api.PlanWaiting)
	for _, c := range []struct {
		plans []*api.Plan
		want  string
	}{
		{[]*api.Plan{deploy, recovery, backup}, api.PlanRecovery},
		{[]*api.Plan{planTree(api.PlanDeploy, api.PlanInProgress), recovery}, api.PlanDeploy},
		{[]*api.Plan{planTree(api.PlanDeploy, api.PlanComplete), backup, planTree(api.PlanDrain, api.PlanError)}, api.PlanDrain},
		{[]*api.Plan{deploy, backup}, api.PlanDeploy},
		{[]*api.Plan{backup}, api.PlanDeploy}, // of a watch that names none
	} {
		if got := firstUnderWay(c.plans); got != c.want {
			t.Errorf("of %d plans, %s is followed, want %s", len(c.plans), got, c.want)
		}
	}
}

func TestWhatIsDelayedSaysUntilWhen(t *testing.T) {
	recovery := planTree(api.PlanRecovery, api.PlanDelayed)
	recovery.Message, recovery.Until = "it failed", testNow.Add(47*time.Second)
	p := &page{now: testNow}
	p.plans([]*api.Plan{recovery}, false, false)
	p.instances([]*api.Instance{{Name: "web-1", State: api.InstanceCrashed, Plan: api.PlanRecovery, Message: "it failed", Until: recovery.Until}}, false)
	if got := strings.Count(p.String(), "it failed, goes on in 47s\n"); got != 2 {
		t.Errorf("%d lines say until when, want 2:\n%s", got, p)
	}
	for _, c := range []struct {
		why   string
		until time.Time
		want  string
	}{
		{"it failed", time.Time{}, "it failed"},
		{"", recovery.Until, "goes on in 47s"},
		{"it failed", testNow.Add(-time.Second), "it failed, goes on now"},
	} {
		if got := untilToo(testNow, c.why, c.until); got != c.want {
			t.Errorf("untilToo(%q) = %q, want %q", c.why, got, c.want)
		}
	}
}
