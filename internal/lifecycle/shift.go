// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
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

// An Observation holds the leader's knowledge about a shift's stacks.
type Observation struct {
	FromRoutable bool // at least one instance of From takes requests
	ToRoutable   bool // at least one instance of To does
	ToCrashed    bool // an instance of To crashed since the last checks
	// Checks holds the outcome of each check over the last interval, by name; nil:
	// the interval has not ended.
	Checks map[string]CheckResult
}

// Advance computes the shift at a time, and the time of the next advance. It returns the same
// pointer if nothing changed. A zero time means that nothing will change without an
// operator.
//
// Progress is the sum of the times between advances, so a shift stands still while no
// leader advances it: it never jumps.
func Advance(s *api.Shift, o Observation, now time.Time) (*api.Shift, time.Time) {
	if !s.IsActive() {
		return s, time.Time{}
	}
	if next := s.AdvancedAt.Add(shiftTick); now.Before(next) && o.Checks == nil {
		return s, next
	}
	n := s.Copy()
	passed := now.Sub(s.AdvancedAt)
	if passed < 0 || passed > shiftGap {
		passed = 0
	}
	n.AdvancedAt = now
	n.Held = !o.ToRoutable && s.Status != api.ShiftReversing
	switch s.Status {
	case api.ShiftRunning:
		if o.Checks != nil || o.ToCrashed {
			judgeChecks(n, o, now)
		}
		if n.Status == api.ShiftRunning && !n.Held && n.Inconclusive == 0 {
			n.Elapsed += passed
			progress(n, now)
		}
	case api.ShiftWaiting, api.ShiftPaused:
		if o.Checks != nil || o.ToCrashed {
			judgeChecks(n, o, now)
		}
	case api.ShiftReversing:
		n.Elapsed += passed
		recede(n, now)
	}
	return n, now.Add(shiftTick)
}

// EffectiveShare returns the share of To that routers use: a stack without routable instances gives its
// share to the other one.
func EffectiveShare(share float64, fromRoutable, toRoutable bool) float64 {
	switch {
	case fromRoutable == toRoutable:
		return share
	case toRoutable:
		return 1
	}
	return 0
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
			s.Status, s.Reason = api.ShiftWaiting, "the step wait needs an operator: reeve stack shift resume "+s.Unit
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
