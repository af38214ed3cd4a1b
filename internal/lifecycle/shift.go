// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"math"
	"time"

	"github.com/reeve-run/reeve/api"
)

const (
	// shiftTick is the least time between two advances of a shift.
	shiftTick = 5 * time.Second
	// shiftGap is the longest time between two advances that counts as progress: a
	// longer one passed without a leader.
	shiftGap = 4 * shiftTick
	// minShareStep is the least change of a share, apart from the first and the last.
	minShareStep = 0.01
	// maxInconclusive is the number of inconclusive intervals after which a shift waits
	// for an operator.
	maxInconclusive = 10
)

// An Observation holds the leader's knowledge about the newer stack of a shift.
type Observation struct {
	ToRoutable bool // at least one instance of To takes requests
	ToCrashed  bool // an instance of To crashed since the last checks
	// CrashReason is the reason of the last crash; "": unknown.
	CrashReason string
	// Checks holds the outcomes of the last interval, by name of the check; nil: the
	// interval has not ended. A check that is missing was not due.
	Checks map[string]CheckResult
}

// hasNews reports whether there are outcomes to judge.
func (o Observation) hasNews() bool { return o.Checks != nil || o.ToCrashed }

// Advance computes the shift at a time, and the time of the next advance. It returns the same
// pointer if nothing changed. A zero time means that nothing will change without an
// operator.
//
// Progress is the sum of the times between advances, so a shift stands still while no
// leader advances it: it never jumps. Time during which the share stood still does not count
// either.
func Advance(s *api.Shift, o Observation, now time.Time) (*api.Shift, time.Time) {
	if !s.IsActive() {
		return s, time.Time{}
	}
	judges := o.hasNews() && s.Status != api.ShiftReversing
	if next := s.AdvancedAt.Add(shiftTick); now.Before(next) && !judges {
		return s, next
	}
	n := s.Copy()
	passed := now.Sub(s.AdvancedAt)
	if passed < 0 || passed > shiftGap || !moves(s) {
		passed = 0
	}
	n.AdvancedAt = now
	if s.Status == api.ShiftReversing {
		n.Held = false
		n.Elapsed += passed
		recede(n, now)
		return n, now.Add(shiftTick)
	}
	hold(n, !o.ToRoutable)
	if judges {
		judgeChecks(n, o, now)
	}
	switch {
	case n.Status == api.ShiftRunning && moves(n):
		n.Elapsed += passed
		progress(n, now)
	case !judges && !moves(s) && n.Held == s.Held:
		return s, now.Add(shiftTick)
	}
	if n.Status != s.Status {
		n.ChangedBy = "" // the status is Reeve's decision
	}
	return n, now.Add(shiftTick)
}

// hold notes whether the stack To cannot take traffic. Routers send its share to From.
func hold(s *api.Shift, held bool) {
	if s.Status == api.ShiftRunning && held != s.Held {
		s.Reason = ""
		if held {
			s.Reason = fmt.Sprintf("no instance of %s takes requests: %s answers for it, and the share stands still", s.To, s.From)
		}
	}
	s.Held = held
}

// moves reports whether the share of a shift changes with time.
func moves(s *api.Shift) bool {
	switch s.Status {
	case api.ShiftRunning:
		return !s.Held && s.Inconclusive <= 0
	case api.ShiftReversing:
		return true
	}
	return false
}

// progress sets the share that belongs to the shift's elapsed time, and completes the shift at its end.
func progress(s *api.Shift, now time.Time) {
	over := s.Spec.Over
	if over <= 0 {
		over = api.DefaultShiftOver
	}
	switch s.Spec.Policy {
	case api.ShiftSteps:
		takeSteps(s)
	case api.ShiftAtomic:
		if s.Elapsed >= over {
			s.Share = 1
		}
	default:
		if share := roundShare(float64(s.Elapsed) / float64(over)); share >= 1 || share-s.Share >= minShareStep {
			s.Share = max(s.Share, min(share, 1))
		}
	}
	if s.Status == api.ShiftRunning && s.Share >= 1 {
		finish(s, api.ShiftComplete, "all traffic is on "+s.To, now)
	}
}

// takeSteps takes the steps whose time has come.
func takeSteps(s *api.Shift) {
	for s.Step < len(s.Steps) {
		step := s.Steps[s.Step]
		switch {
		case step.Share != nil:
			s.Share = max(s.Share, roundShare(*step.Share)) // an operator may have set more
		case step.Wait:
			s.Status, s.Reason = api.ShiftWaiting, "the step wait needs an operator: reeve stack shift "+s.Unit+" resume"
		case s.Elapsed-s.StepFor < step.Pause:
			return
		}
		s.Step++
		s.StepFor = s.Elapsed
		if s.Status == api.ShiftWaiting {
			return
		}
	}
	s.Share = 1
}

// recede lowers the share of a reversed shift evenly, and ends the shift when the share is 0.
func recede(s *api.Shift, now time.Time) {
	share := 0.0
	if s.ReverseOver > 0 {
		share = roundShare(s.ReverseFrom * (1 - float64(s.Elapsed)/float64(s.ReverseOver)))
	}
	if s.Share = max(min(s.Share, share), 0); s.Share == 0 {
		finish(s, api.ShiftReversed, s.Reason, now)
	}
}

func finish(s *api.Shift, status, reason string, now time.Time) {
	s.Status, s.Reason, s.EndedAt, s.Held = status, reason, now, false
}

func roundShare(share float64) float64 { return math.Round(share*10000) / 10000 }

// reverse turns a shift back from where it is. It takes half of the time that the shift
// has taken so far, or none if it is immediate.
func reverse(s *api.Shift, reason string, atOnce bool, now time.Time) {
	s.Status, s.Reason, s.Held = api.ShiftReversing, reason, false
	s.ReverseFrom, s.ReverseOver = s.Share, s.Elapsed/2
	if s.Elapsed = 0; atOnce {
		s.ReverseOver = 0
	}
	recede(s, now)
}
