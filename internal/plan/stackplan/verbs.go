// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package stackplan

import (
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/plan/derive"
)

// changeShift applies the verb to the shift.
func (t *target) changeShift() (*api.Shift, error) {
	s := t.Shift
	if t.phase != nil && t.phase.Name == phaseReverse {
		return t.changeReversal()
	}
	if !s.IsActive() || s.Status == api.ShiftReversing {
		return nil, t.refuseVerb(possibleOf(s))
	}
	if t.step != nil {
		return t.changeStage()
	}
	return t.apply()
}

// apply applies the verb to the whole shift.
func (t *target) apply() (*api.Shift, error) {
	s := t.Shift
	waits := s.Status != api.ShiftRunning
	switch {
	case t.verb == api.VerbInterrupt && !waits:
		return lifecycle.Pause(s, "paused by "+t.sentence(), t.Now)
	case t.verb == api.VerbContinue && waits:
		return lifecycle.Resume(s, t.Now)
	case t.verb == api.VerbForceComplete:
		return lifecycle.Finish(s, t.sentence(), t.Now)
	case t.verb == api.VerbStop && t.phase != nil:
		return nil, t.refuse("stop reverses the whole shift: name no phase or step")
	case t.verb == api.VerbStop:
		return lifecycle.Reverse(s, "reversed by "+t.sentence(), false, t.Now)
	}
	return nil, t.refuseVerb(possibleOf(s))
}

// changeStage applies the verb to one step of the way forward. Only the step in progress can wait.
func (t *target) changeStage() (*api.Shift, error) {
	s := t.Shift
	stages := lifecycle.Stages(s)
	at := slices.IndexFunc(stages, func(stage lifecycle.Stage) bool { return stage.Name == t.step.Name })
	current := lifecycle.CurrentStage(s, stages)
	switch {
	case at < current:
		return nil, t.refuse("it is complete; only stop, which reverses the shift, lowers the share")
	case t.verb == api.VerbForceComplete:
		return lifecycle.CompleteStage(s, at, t.sentence(), t.Now)
	case at > current:
		return nil, t.refuse("it has not started: only force-complete applies to it")
	case t.verb == api.VerbRestart && s.Status == api.ShiftRunning:
		return lifecycle.RestartStage(s, at, t.Now)
	}
	return t.apply()
}

// changeReversal applies the verb to the way back.
func (t *target) changeReversal() (*api.Shift, error) {
	if t.Shift.Status == api.ShiftReversing && t.verb == api.VerbForceComplete {
		return lifecycle.Reverse(t.Shift, t.Shift.Reason, true, t.Now)
	}
	return nil, t.refuseVerb(possibleOf(t.Shift))
}

// possibleOf lists the verbs that apply to a shift.
func possibleOf(s *api.Shift) []string {
	switch s.Status {
	case api.ShiftRunning:
		return []string{"interrupt", "force-complete", "stop, which reverses it"}
	case api.ShiftPaused, api.ShiftWaiting:
		return []string{"continue", "force-complete", "stop, which reverses it"}
	case api.ShiftReversing:
		return []string{"force-complete of phase " + phaseReverse}
	case api.ShiftComplete:
		return []string{"reeve stack shift -to STACK " + s.Unit + ", which begins another shift"}
	}
	return []string{"reeve stack shift -to " + s.To + " " + s.Unit + ", which begins another shift"}
}

// changeGrace applies the verb to the grace of a stack: interrupt holds the stack, continue ends the
// hold, and force-complete ends the grace.
func (t *target) changeGrace() (*api.Stack, error) {
	s := t.Stack
	held := s.IsHeld(t.Now)
	switch {
	case t.Job == nil:
		return nil, t.refuse("the job is removed")
	case s.Removing && t.verb == api.VerbForceComplete && t.phase != nil && t.phase.Name == derive.PhaseKill && !t.Job.Purge:
		return s, nil // the decision is what counts: see Unconfirmed
	case s.Removing:
		return nil, t.refuse("the grace has ended; to give up instances on nodes that do not answer: force-complete phase " + derive.PhaseKill)
	case t.phase != nil && t.phase.Name != phaseGrace:
		return nil, t.refuse("it comes after phase " + phaseGrace + "; phase " + derive.PhaseKill + " starts when the grace ends")
	case t.verb == api.VerbInterrupt && !held && s.Status == api.StackGarbage:
		return lifecycle.Hold(s, t.by, t.reason, time.Time{}, t.Now)
	case t.verb == api.VerbContinue && held:
		return lifecycle.Unhold(s, t.Now)
	case t.verb == api.VerbForceComplete:
		return lifecycle.Stop(s, true, t.Now)
	}
	possible := []string{"interrupt, which holds the stack", "force-complete", "reeve stack rescue " + s.Name}
	switch {
	case held:
		possible[0] = "continue, which ends the hold"
	case s.Status == api.StackFailed:
		possible = []string{"force-complete"}
	}
	return nil, t.refuseVerb(possible)
}
