// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plantree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
)

// maxNext limits the suggested commands.
const maxNext = 4

// Next suggests commands: to continue work that waits, and to inspect failures.
func Next(pl *api.Plan) []string {
	n := &nextCommands{plan: pl}
	switch {
	case pl.Status == api.PlanComplete && !pl.Interrupted:
		return nil
	case IsUnstarted(pl):
		n.add("Start it", "reeve plan start", pl.JobID, pl.Name)
		return n.commands
	case pl.Interrupted && pl.Name == api.PlanRestart && pl.Run != "":
		n.add("Resume it", "reeve job restart -resume", api.ShortID(pl.Run))
	case pl.Interrupted:
		n.add("Continue it", "reeve plan continue", pl.JobID, pl.Name)
	}
	n.stack()
	for _, phase := range pl.Phases {
		n.phase(phase)
	}
	return n.commands
}

// stack suggests commands for the plans that only stacks have.
func (n *nextCommands) stack() {
	pl := n.plan
	if pl.IsCustom() || len(pl.Phases) == 0 {
		return
	}
	first := pl.Phases[0]
	canRescue := func(s *api.Step) bool { return !strings.HasPrefix(s.Message, api.StackFailed) }
	switch {
	case pl.Name == api.PlanShift && pl.Status == api.PlanWaiting:
		n.add("Continue it", "reeve plan continue", pl.JobID, pl.Name)
		n.add("Finish it", "reeve plan force-complete", pl.JobID, pl.Name)
		n.add("Reverse it", "reeve plan stop", pl.JobID, pl.Name)
	case pl.Name == api.PlanUninstall && first.Name == "grace" && first.Status != api.PlanComplete && slices.ContainsFunc(first.Steps, canRescue):
		n.add("Rescue the stack", "reeve stack rescue", pl.JobID)
	}
}

// nextCommands collects suggestions without duplicates.
type nextCommands struct {
	plan     *api.Plan
	commands []string
	known    map[string]bool
}

func (n *nextCommands) add(label, command string, args ...string) {
	for _, arg := range args {
		command += " " + human.ShellQuote(arg)
	}
	if flag := NamespaceFlag(n.plan); flag != "" {
		command = strings.Replace(command, " ", flag+" ", 1)
	}
	if len(n.commands) == maxNext || n.known[command] {
		return
	}
	if n.known == nil {
		n.known = map[string]bool{}
	}
	n.known[command] = true
	n.commands = append(n.commands, label+":  "+command)
}

func (n *nextCommands) phase(phase *api.Phase) {
	pl := n.plan
	switch {
	case phase.Status == api.PlanComplete:
		return
	case phase.Interrupted:
		n.add("Continue "+phase.Name, "reeve plan continue", pl.JobID, pl.Name, phase.Name)
	case awaitsCanary(phase) && isMoving(phase):
	case awaitsCanary(phase):
		label := "Release the other steps of " + phase.Name
		if canariesHeld(phase) > 1 {
			label = "Release the first step of " + phase.Name
		}
		n.add(label, "reeve plan continue", pl.JobID, pl.Name, phase.Name)
	case awaitsPromotion(pl, phase):
		n.add("Promote the canaries", "reeve deployment promote", api.ShortID(pl.Run))
	}
	for _, s := range phase.Steps {
		n.step(phase, s)
	}
}

func (n *nextCommands) step(phase *api.Phase, s *api.Step) {
	pl := n.plan
	switch {
	case s.Interrupted && s.Status == api.PlanWaiting && !awaitsCanary(phase):
		n.add("Continue "+s.Name, "reeve plan continue", pl.JobID, pl.Name, phase.Name, s.Name)
	case s.Status == api.PlanStarted && s.Allocation != "" && awaitsCanary(phase):
		n.add("Inspect "+s.Name, "reeve alloc status", api.ShortID(s.Allocation))
	case s.Status == api.PlanError && s.Allocation != "":
		n.add("Inspect the failure", "reeve alloc status", api.ShortID(s.Allocation))
	case s.Status == api.PlanPrepared && s.Message != "" && s.Allocation == "":
		n.add("List obstacles", "reeve job explain", pl.JobID)
	}
}

// awaitsCanary reports whether a phase waits for a "continue" because of its strategy.
func awaitsCanary(phase *api.Phase) bool {
	canary := phase.Strategy == api.StrategySerialCanary || phase.Strategy == api.StrategyParallelCanary
	return canary && canariesHeld(phase) > 0
}

// isMoving reports whether a step of a phase is active, so that an operator cannot judge
// it yet.
func isMoving(phase *api.Phase) bool {
	for _, s := range phase.Steps {
		switch s.Status {
		case api.PlanPrepared, api.PlanStarting, api.PlanStarted:
			return true
		}
	}
	return false
}

// canariesHeld counts the steps of a phase that wait for a "continue".
func canariesHeld(phase *api.Phase) int {
	held := 0
	for _, s := range phase.Steps {
		if s.Status == api.PlanWaiting && !s.Interrupted {
			held++
		}
	}
	return held
}

// awaitsPromotion reports whether a phase of a deployment waits for the promotion of its
// canaries.
func awaitsPromotion(pl *api.Plan, phase *api.Phase) bool {
	return pl.Name == api.PlanDeploy && pl.Run != "" && !pl.Interrupted && phase.Status == api.PlanWaiting && !anyInterrupted(phase)
}

func anyInterrupted(phase *api.Phase) bool {
	for _, s := range phase.Steps {
		if s.Interrupted {
			return true
		}
	}
	return phase.Interrupted
}

// Head returns the line above a tree: the job, its version and the run.
func Head(pl *api.Plan) string {
	text := pl.JobID
	if pl.Namespace != "" && pl.Namespace != api.DefaultNamespace {
		text += " in namespace " + pl.Namespace
	}
	text += fmt.Sprintf(" version %d", pl.JobVersion)
	if pl.Run != "" {
		kind := "run"
		switch pl.Name {
		case api.PlanDeploy:
			kind = "deployment"
		case api.PlanRestart:
			kind = "restart"
		case api.PlanShift:
			kind = "shift"
		}
		text += ", " + kind + " " + api.ShortID(pl.Run)
	}
	if len(pl.Parameters) > 0 {
		text += ", with " + parametersInWords(pl.Parameters)
	}
	return text
}
