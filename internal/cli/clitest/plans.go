// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Step returns a step on one instance of a group.
func Step(group string, index int, status api.PlanStatus, tasks ...string) *api.Step {
	name := fmt.Sprintf("%s:[%s]", api.InstanceName(group, index), strings.Join(tasks, ", "))
	return &api.Step{
		ID: "step " + name, Name: name, Status: status, Group: group, Index: index, Tasks: tasks,
		Since: Now.Add(-12 * time.Second), Allocation: fmt.Sprintf("%08x-0000-4000-8000-000000000000", 0xa0+index),
	}
}

// Phase returns a phase with these steps.
func Phase(name, strategy string, status api.PlanStatus, steps ...*api.Step) *api.Phase {
	phase := &api.Phase{ID: "phase " + name, Name: name, Group: name, Strategy: strategy, Status: status, Steps: steps, Total: len(steps)}
	for _, s := range steps {
		if s.Status == api.PlanComplete {
			phase.Completed++
		}
	}
	return phase
}

// Plan returns a plan of job "web" with these phases.
func Plan(name string, status api.PlanStatus, phases ...*api.Phase) *api.Plan {
	pl := &api.Plan{
		ID: "plan " + name, Name: name, Namespace: "default", JobID: "web", JobVersion: 2, Strategy: api.StrategySerial,
		Status: status, Phases: phases, Since: Now.Add(-90 * time.Second),
	}
	for _, phase := range phases {
		pl.Completed += phase.Completed
		pl.Total += phase.Total
	}
	return pl
}

// CanaryPlan waits for the second "continue" of a canary.
func CanaryPlan() *api.Plan {
	waiting := Step("world", 1, api.PlanWaiting, "server", "sidecar")
	waiting.Allocation, waiting.Message = "", "a canary: waits for \"continue\""
	forced := Step("hello", 1, api.PlanComplete, "server")
	forced.Forced = &api.Decision{
		ID: "d1", Verb: api.VerbForceComplete, Plan: "deploy", Phase: "hello", Step: forced.Name, By: "bob@desk",
		Reason: "100% sure", Time: Ago(3 * time.Minute),
	}
	pl := Plan(api.PlanDeploy, api.PlanWaiting,
		Phase("hello", api.StrategySerial, api.PlanComplete, Step("hello", 0, api.PlanComplete, "server"), forced),
		Phase("world", api.StrategySerialCanary, api.PlanWaiting,
			Step("world", 0, api.PlanComplete, "server", "sidecar"), waiting,
			Step("world", 2, api.PlanPending, "server", "sidecar")))
	pl.Run = DeplID
	pl.Decisions = []*api.Decision{forced.Forced, {
		ID: "d2", Verb: api.VerbContinue, Plan: "deploy", Phase: "world", By: "alice@laptop", Reason: "looks good", Time: Ago(2 * time.Minute),
	}}
	return pl
}

// BigPlan is a phase of many steps, some of which are under way.
func BigPlan(n int) *api.Plan {
	var steps []*api.Step
	for i := range n {
		status := api.PlanPending
		switch {
		case i < n/3:
			status = api.PlanComplete
		case i < n/3+2:
			status = api.PlanStarted
		}
		steps = append(steps, Step("web", i, status, "server"))
	}
	phase := Phase("web", api.StrategySerial, api.PlanInProgress, steps...)
	phase.MaxParallel = 2
	return Plan(api.PlanDeploy, api.PlanInProgress, phase)
}

// StuckPlan shows everything that a step may have to say.
func StuckPlan() *api.Plan {
	delayed := Step("web", 0, api.PlanDelayed, "server")
	delayed.Message, delayed.Until, delayed.Recovery = "it failed 3 times", Now.Add(47*time.Second), api.RecoveryTransient
	blocked := Step("web", 1, api.PlanPrepared, "server")
	blocked.Allocation, blocked.Message, blocked.Recovery = "", "no node has enough memory", api.RecoveryPermanent
	broken := Step("web", 2, api.PlanError, "server")
	broken.Errors = []string{"web-2: exit code 1 after 100%d"}
	held := Step("web", 3, api.PlanWaiting, "server")
	held.Interrupted, held.Allocation = true, ""
	pl := Plan(api.PlanRecovery, api.PlanError,
		Phase("web-0:[server]", api.StrategyParallel, api.PlanDelayed, delayed),
		Phase("web-1:[server]", api.StrategyParallel, api.PlanInProgress, blocked),
		Phase("web-2:[server]", api.StrategyParallel, api.PlanError, broken),
		Phase("web-3:[server]", api.StrategyParallel, api.PlanWaiting, held))
	pl.Strategy, pl.Namespace = api.StrategyParallel, "team a"
	pl.Errors = broken.Errors
	return pl
}

func CustomPlan() *api.Plan {
	step := Step("web", 0, api.PlanPending, "backup")
	step.Allocation = ""
	return Plan("backup", api.PlanWaiting, Phase("web", api.StrategySerial, api.PlanPending, step))
}
