// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plantree

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/clitest"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// TestTreeIsAsUpstreamWritesIt checks what programs that read such trees rely
// on.
func TestTreeIsAsUpstreamWritesIt(t *testing.T) {
	pl := clitest.Plan(api.PlanDeploy, api.PlanInProgress,
		clitest.Phase("hello", api.StrategySerial, api.PlanComplete, clitest.Step("hello", 0, api.PlanComplete, "server")),
		clitest.Phase("wor%d", api.StrategyParallel, api.PlanInProgress,
			clitest.Step("world", 0, api.PlanComplete, "server", "side%car"), clitest.Step("world", 1, api.PlanPending, "server", "side%car")))
	var got []string
	for _, line := range Lines(pl, term.Style{}, clitest.Now, FoldNothing) {
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
		for _, pl := range []*api.Plan{clitest.CanaryPlan(), clitest.BigPlan(60), clitest.StuckPlan()} {
			f := Frame{Now: clitest.Now, Started: clitest.Now.Add(-5 * time.Second), Width: size.width, Height: size.height}
			lines := f.Lines(pl)
			if len(lines) >= size.height {
				t.Errorf("%d lines for a terminal of %d", len(lines), size.height)
			}
			fmt.Fprintf(&b, "%s in %d x %d:\n", pl.Name, size.width, size.height)
			for _, line := range lines {
				line = term.Cut(line, size.width)
				if term.VisibleWidth(line) > size.width {
					t.Errorf("%q is wider than %d", line, size.width)
				}
				b.WriteString("| " + line + "\n")
			}
		}
	}
	clitest.Golden(t, "frames.txt", b.String())
}

func TestFoldedTreesHideOnlyWhatIsQuiet(t *testing.T) {
	pl := clitest.BigPlan(60)
	pl.Phases[0].Steps[40].Interrupted, pl.Phases[0].Steps[40].Status = true, api.PlanWaiting
	for f := FoldNothing; f < foldRuns; f++ {
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
	l := Log{}
	pl := clitest.CanaryPlan()
	var b strings.Builder
	tell := func(title string, at time.Time) {
		fmt.Fprintf(&b, "# %s\n%s", title, strings.Join(append(l.Changes(pl, at), ""), "\n"))
	}
	tell("first", clitest.Now)
	tell("nothing new", clitest.Now.Add(time.Second))
	world := pl.Phases[1]
	world.Steps[1].Status, world.Steps[1].Message = api.PlanStarting, ""
	world.Steps[2].Status, world.Steps[2].Until = api.PlanDelayed, clitest.Now.Add(time.Minute)
	world.Status, pl.Status = api.PlanInProgress, api.PlanInProgress
	pl.Decisions = append(pl.Decisions, &api.Decision{
		ID: "d3", Verb: api.VerbContinue, Plan: "deploy", Phase: "world", By: "alice@laptop", Time: clitest.Now.UnixNano(),
	})
	tell("continued", clitest.Now.Add(2*time.Second))
	pl = clitest.BigPlan(60)
	tell("many", clitest.Now.Add(3*time.Second))
	clitest.Golden(t, "changes.txt", b.String())
}
