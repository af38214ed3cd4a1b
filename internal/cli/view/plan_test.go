// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/clitest"
	"github.com/reeve-run/reeve/internal/cli/plantree"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func TestTreesForPeople(t *testing.T) {
	interrupted := clitest.BigPlan(4)
	interrupted.Status, interrupted.Interrupted = api.PlanWaiting, true
	trees := []*api.Plan{clitest.CanaryPlan(), clitest.BigPlan(60), clitest.StuckPlan(), clitest.CustomPlan(), interrupted, clitest.Plan("recovery", api.PlanComplete), {}}
	var b strings.Builder
	for _, pl := range trees {
		p := &term.Page{Now: clitest.Now}
		PlanTree(p, pl, false)
		b.WriteString(p.String() + "\n")
	}
	clitest.Golden(t, "pages/plan_tree.txt", b.String())
}

func TestPlansAreListed(t *testing.T) {
	list := []*api.Plan{clitest.CanaryPlan(), clitest.StuckPlan(), clitest.CustomPlan(), clitest.Plan("recovery", api.PlanComplete)}
	list[0].Message = "phase world waits for \"continue\""
	p := &term.Page{Now: clitest.Now}
	Plans(p, list, true, true)
	p.WriteByte('\n')
	Plans(p, list[3:], false, false)
	clitest.Golden(t, "pages/plans.txt", p.String())
}

func TestWhatIsDelayedSaysUntilWhen(t *testing.T) {
	recovery := clitest.Plan(api.PlanRecovery, api.PlanDelayed)
	recovery.Message, recovery.Until = "it failed", clitest.Now.Add(47*time.Second)
	p := &term.Page{Now: clitest.Now}
	Plans(p, []*api.Plan{recovery}, false, false)
	Instances(p, []*api.Instance{{Name: "web-1", State: api.InstanceCrashed, Plan: api.PlanRecovery, Message: "it failed", Until: recovery.Until}}, false)
	if got := strings.Count(p.String(), "it failed, continues in 47s\n"); got != 2 {
		t.Errorf("%d lines say until when, want 2:\n%s", got, p)
	}
	for _, c := range []struct {
		why   string
		until time.Time
		want  string
	}{
		{"it failed", time.Time{}, "it failed"},
		{"", recovery.Until, "continues in 47s"},
		{"it failed", clitest.Now.Add(-time.Second), "it failed, continues now"},
	} {
		if got := plantree.WaitsUntil(clitest.Now, c.why, c.until); got != c.want {
			t.Errorf("WaitsUntil(%q) = %q, want %q", c.why, got, c.want)
		}
	}
}
