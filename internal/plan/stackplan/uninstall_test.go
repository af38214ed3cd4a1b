// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package stackplan_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/stackplan"
)

// placed gives the stack an allocation per node, and ended ones.
func placed(l *stackplan.Life) {
	for _, node := range []string{"n2", "n1"} {
		l.Allocations = append(l.Allocations, &api.Allocation{ID: node + "-allocation", Name: "web.api[0]", Group: "api", NodeID: node, ClientStatus: api.AllocClientRunning})
	}
	l.Allocations = append(l.Allocations, &api.Allocation{ID: "ended", Name: "web.api[0]", Group: "api", NodeID: "away", ClientStatus: api.AllocClientComplete})
}

func silent(node string) func(*stackplan.Life) {
	return func(l *stackplan.Life) { l.IsSilent = func(n string) bool { return n == node } }
}

func held(until time.Time) func(*stackplan.Life) {
	return func(l *stackplan.Life) {
		l.Stack.Hold = &api.StackHold{By: "ann", Reason: "audit", Since: now.Add(-time.Minute), Until: until}
	}
}

func giveUp(phase string) func(*stackplan.Life) {
	return func(l *stackplan.Life) {
		l.Decisions = append(l.Decisions, &api.Decision{Plan: api.PlanUninstall, Verb: api.VerbForceComplete, Phase: phase, By: "ann"})
	}
}

func TestUninstallShowsTheGrace(t *testing.T) {
	const kills = "\nkill PENDING\nderegister PENDING"
	stale := func(domain string) func(*stackplan.Life) {
		return func(l *stackplan.Life) { l.Stack.Verdict = &api.Verdict{Reason: api.KeptStale, Subject: domain} }
	}
	for name, c := range map[string]struct {
		life *stackplan.Life
		want string
	}{
		"grace":            {life(api.StackGarbage), "DELAYED 0/2\ngrace DELAYED\n  grace DELAYED: garbage: as told" + kills},
		"failed":           {life(api.StackFailed, neverRan), "DELAYED 0/2\ngrace DELAYED\n  grace DELAYED: failed: as told" + kills},
		"its last moment":  {life(api.StackGarbage, expired), "PREPARED 0/2\ngrace PREPARED\n  grace PREPARED: garbage: as told; the next sweep removes it" + kills},
		"held":             {life(api.StackGarbage, held(time.Time{}), expired), "WAITING 0/2\ngrace WAITING\n  grace WAITING: held by ann at 11:59:00: audit" + kills},
		"held for a time":  {life(api.StackGarbage, held(now.Add(time.Hour))), "WAITING 0/2\ngrace WAITING\n  grace WAITING: held by ann at 11:59:00: audit; until 2026-03-01 13:00:00" + kills},
		"the hold ended":   {life(api.StackGarbage, held(now)), "DELAYED 0/2\ngrace DELAYED\n  grace DELAYED: garbage: as told" + kills},
		"a stale domain":   {life(api.StackGarbage, stale("eu"), expired), "PREPARED 0/2\ngrace PREPARED\n  grace PREPARED: garbage: as told; the grace does not end while domain \"eu\" is stale, so callers may be unknown" + kills},
		"jobs without one": {life(api.StackGarbage, stale("")), "PREPARED 0/2\ngrace PREPARED\n  grace PREPARED: garbage: as told; the grace does not end while the domain of jobs without a domain is stale, so callers may be unknown" + kills},
		"instances":        {life(api.StackGarbage, placed), "DELAYED 0/4\ngrace DELAYED\n  grace DELAYED: garbage: as told" + kills},
		"removing":         {life(api.StackGarbage, placed, removing), "IN_PROGRESS 1/4\ngrace COMPLETE\nkill PENDING\n  kill-api-0-n1-alloc PENDING: \n  kill-api-0-n2-alloc PENDING: \nderegister PENDING"},
		"a silent node": {life(api.StackGarbage, placed, removing, silent("n2")),
			"IN_PROGRESS 1/4\ngrace COMPLETE\nkill PREPARED\n  kill-api-0-n1-alloc PENDING: \n  kill-api-0-n2-alloc PREPARED: its node does not answer; force-complete phase kill to give it up\nderegister PENDING"},
		"a silent node in the grace": {life(api.StackGarbage, placed, silent("n2")), "DELAYED 0/4\ngrace DELAYED\n  grace DELAYED: garbage: as told" + kills},
	} {
		all := c.life.Plans(nil)
		if diff := cmp.Diff(c.want, describe(all[len(all)-1])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRemovalWaitsForNodesThatDoNotAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		life *stackplan.Life
		want int
	}{
		"all answer":               {life(api.StackGarbage, placed), 0},
		"one is silent":            {life(api.StackGarbage, placed, silent("n1")), 1},
		"one with ended ones":      {life(api.StackGarbage, placed, silent("away")), 0},
		"given up":                 {life(api.StackGarbage, placed, silent("n1"), giveUp("kill")), 0},
		"only the grace was ended": {life(api.StackGarbage, placed, silent("n1"), giveUp("grace")), 1},
	} {
		if got := c.life.Unconfirmed(); len(got) != c.want {
			t.Errorf("%s: %d allocations are unconfirmed, want %d", name, len(got), c.want)
		}
	}
}

func TestVerbsOfTheGrace(t *testing.T) {
	phase := func(name string) *api.PlanRequest { return &api.PlanRequest{By: "ann", Phase: name} }
	purged := func(l *stackplan.Life) { l.Job.Purge = true }
	for name, c := range map[string]struct {
		life *stackplan.Life
		verb api.Verb
		req  *api.PlanRequest
		want string
	}{
		"hold":                    {life(api.StackGarbage), api.VerbInterrupt, nil, "garbage, held true, removing false"},
		"hold twice":              {life(api.StackGarbage, held(time.Time{})), api.VerbInterrupt, nil, "possible: continue, which ends the hold, force-complete, reeve stack rescue " + newer},
		"hold again":              {life(api.StackGarbage, held(now)), api.VerbInterrupt, nil, "garbage, held true, removing false"},
		"hold what failed":        {life(api.StackFailed, neverRan), api.VerbInterrupt, nil, "possible: force-complete"},
		"continue":                {life(api.StackGarbage, held(time.Time{})), api.VerbContinue, nil, "garbage, held false, removing false"},
		"continue without a hold": {life(api.StackGarbage), api.VerbContinue, nil, "possible: interrupt, which holds the stack, force-complete"},
		"end the grace":           {life(api.StackGarbage, held(time.Time{})), api.VerbForceComplete, phase("grace"), "garbage, held false, removing true"},
		"end it by its plan":      {life(api.StackFailed, neverRan), api.VerbForceComplete, nil, "failed, held false, removing true"},
		"a later phase":           {life(api.StackGarbage), api.VerbForceComplete, phase("kill"), "it comes after phase grace"},
		"stop":                    {life(api.StackGarbage), api.VerbStop, nil, "possible: interrupt, which holds the stack"},
		"the grace has ended":     {life(api.StackGarbage, removing), api.VerbInterrupt, nil, "the grace has ended"},
		"give up":                 {life(api.StackGarbage, removing), api.VerbForceComplete, phase("kill"), "garbage, held false, removing true"},
		"give up all":             {life(api.StackGarbage, removing), api.VerbForceComplete, nil, "the grace has ended; to give up instances"},
		"the job is being purged": {life(api.StackGarbage, removing, purged), api.VerbForceComplete, phase("kill"), "the grace has ended"},
	} {
		if got := decide(t, c.life, api.PlanUninstall, c.verb, c.req); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q in it", name, got, c.want)
		}
	}
	l := life(api.StackGarbage)
	p := l.Plans(nil)[0]
	c, err := l.Decide(p, api.VerbForceComplete, nil)
	if err != nil || c.Decision.Phase != "grace" {
		t.Errorf("a verb on the whole plan decides about phase %q, %v; it must not force the phases after the grace", c.Decision.Phase, err)
	}
	l.Job = nil
	if _, err := l.Decide(p, api.VerbForceComplete, nil); err == nil || !strings.Contains(err.Error(), "the job is removed") {
		t.Errorf("after the removal of the job: %v", err)
	}
}

func TestVerbsOnOtherPhasesBelongToTheJob(t *testing.T) {
	grace := life(api.StackGarbage).Plans([]*api.Plan{{Name: api.PlanUninstall, Phases: []*api.Phase{{ID: "k", Name: "kill"}}}})[0]
	purging := life(api.StackGarbage, func(l *stackplan.Life) { l.Job.Purge = true })
	for name, c := range map[string]struct {
		life *stackplan.Life
		plan *api.Plan
		req  *api.PlanRequest
		want bool
	}{
		"warming":                       {purging, plan(api.PlanWarming), nil, true},
		"shift":                         {purging, plan(api.PlanShift), nil, true},
		"deploy":                        {purging, plan(api.PlanDeploy), nil, false},
		"before the purge":              {life(api.StackGarbage), grace, nil, true},
		"after the job":                 {life(api.StackGarbage, withoutJob), grace, nil, true},
		"the whole plan":                {purging, grace, nil, false},
		"no phase":                      {purging, grace, &api.PlanRequest{}, false},
		"phase kill":                    {purging, grace, &api.PlanRequest{Phase: "kill"}, false},
		"phase grace":                   {purging, grace, &api.PlanRequest{Phase: "grace"}, true},
		"phase grace by its id":         {purging, grace, &api.PlanRequest{Phase: grace.Phases[0].ID}, true},
		"step grace":                    {purging, grace, &api.PlanRequest{Step: "grace"}, true},
		"step grace by its id":          {purging, grace, &api.PlanRequest{Step: grace.Phases[0].Steps[0].ID}, true},
		"a job that an operator purged": {purging, &api.Plan{Name: api.PlanUninstall, Phases: []*api.Phase{{Name: "kill"}}}, &api.PlanRequest{Phase: "kill"}, false},
	} {
		if got := c.life.IsOwn(c.plan, c.req); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
