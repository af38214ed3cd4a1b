// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
)

// NewShift returns a shift between two ready stacks of a unit and major version at its beginning. The spec
// is that of the newer stack; nil: all defaults.
func NewShift(id string, from, to *api.Stack, spec *api.ShiftSpec, by string, now time.Time) *api.Shift {
	s := &api.Shift{
		ID: id, Namespace: to.Namespace, Unit: to.Unit, Major: to.Version.Major, From: from.Name, To: to.Name,
		Status: api.ShiftRunning, By: by, StartedAt: now, AdvancedAt: now, CheckedAt: now,
	}
	if spec != nil {
		s.Spec = *spec
		s.Steps, _ = api.ParseShiftSteps(spec.Steps) // validation has refused invalid steps
	}
	return s
}

// Pause stops the progress of a running shift until Resume.
func Pause(s *api.Shift, reason string, now time.Time) (*api.Shift, error) {
	switch s.Status {
	case api.ShiftRunning, api.ShiftWaiting:
		return change(s, now, func(n *api.Shift) { n.Status, n.Reason = api.ShiftPaused, reason }), nil
	case api.ShiftPaused:
		return s, nil
	}
	return nil, refuse("pause", s)
}

// Resume continues a shift that is paused, or that waits for an operator.
func Resume(s *api.Shift, now time.Time) (*api.Shift, error) {
	switch s.Status {
	case api.ShiftPaused, api.ShiftWaiting:
		return change(s, now, func(n *api.Shift) {
			n.Status, n.Reason, n.Failures = api.ShiftRunning, "", nil
			n.CheckedAt = now
			if n.Inconclusive = 0; s.Inconclusive >= maxInconclusive {
				n.Inconclusive = -1 // the operator decided to go on for at least one more interval
			}
		}), nil
	case api.ShiftRunning:
		return s, nil
	}
	return nil, refuse("resume", s)
}

// Finish sends all traffic to the stack To.
func Finish(s *api.Shift, by string, now time.Time) (*api.Shift, error) {
	if !s.IsActive() || s.Status == api.ShiftReversing {
		return nil, refuse("finish", s)
	}
	return change(s, now, func(n *api.Shift) {
		n.Share = 1
		finish(n, api.ShiftComplete, "finished by "+by, now)
	}), nil
}

// SetShare sets the share of the stack To and pauses the shift there.
func SetShare(s *api.Shift, share float64, by string, now time.Time) (*api.Shift, error) {
	switch {
	case !s.IsActive() || s.Status == api.ShiftReversing:
		return nil, refuse("set the share of", s)
	case !(share >= 0 && share <= 1):
		return nil, api.Errorf(api.CodeInvalid, "share %v: must be between 0%% and 100%%", share)
	case share == 1:
		return Finish(s, by, now)
	}
	return change(s, now, func(n *api.Shift) {
		n.Share, n.Status, n.Reason = roundShare(share), api.ShiftPaused, "share set by "+by
		if over := n.Spec.Over; n.Spec.Policy != api.ShiftSteps && n.Spec.Policy != api.ShiftAtomic {
			if over <= 0 {
				over = api.DefaultShiftOver
			}
			n.Elapsed = time.Duration(n.Share * float64(over)) // resuming continues from the share
		}
	}), nil
}

// Reverse returns the traffic to the stack From: evenly, in half of the time that the
// shift has taken, or immediately.
func Reverse(s *api.Shift, reason string, atOnce bool, now time.Time) (*api.Shift, error) {
	switch {
	case s.Status == api.ShiftReversing && !atOnce:
		return nil, api.Errorf(api.CodeConflict, "shift of %s is reversing already, since its share was %s; end it with: reeve stack shift -now %s reverse",
			s.Unit, percent(s.ReverseFrom), s.Unit)
	case s.Status == api.ShiftReversed:
		return nil, api.Errorf(api.CodeConflict, "shift of %s has been reversed: all traffic is on %s", s.Unit, s.From)
	case !s.IsActive():
		return nil, api.Errorf(api.CodeConflict, "shift of %s has ended (%s): all traffic is on %s; return it with: reeve stack shift -to %s %s",
			s.Unit, s.Status, s.To, s.From, s.Unit)
	}
	return change(s, now, func(n *api.Shift) { reverse(n, reason, atOnce, now) }), nil
}

// Supersede ends a running shift immediately, because an operator begins another one of its major version.
func Supersede(s *api.Shift, by string, now time.Time) (*api.Shift, error) {
	n, err := Reverse(s, "superseded by "+by, true, now)
	if err != nil {
		return nil, err
	}
	n.Status, n.ChangedBy = api.ShiftSuperseded, by
	return n, nil
}

// ReverseFor reverses the shift of a stack that an operator named. The stack must be the one that
// receives the traffic.
func ReverseFor(s *api.Shift, stack, reason string, atOnce bool, now time.Time) (*api.Shift, error) {
	if stack == s.From && stack != s.To {
		return nil, api.Errorf(api.CodeConflict, "%s is the stack that the shift leaves: reverse the shift by naming %s, its target", stack, s.To)
	}
	return Reverse(s, reason, atOnce, now)
}

// change returns a copy of a shift that was changed at a time. Time before the change does not
// count as progress afterwards.
func change(s *api.Shift, now time.Time, set func(*api.Shift)) *api.Shift {
	n := s.Copy()
	n.AdvancedAt = now
	set(n)
	return n
}

func refuse(verb string, s *api.Shift) error {
	return api.Errorf(api.CodeConflict, "cannot %s the shift of %s: it is %s; %s", verb, s.Unit, s.Status, possible(s))
}

// possible says what an operator can do with a shift.
func possible(s *api.Shift) string {
	switch {
	case s.Status == api.ShiftReversing:
		return fmt.Sprintf("its share of %s falls to 0: reeve stack shift -now %s reverse ends it", percent(s.Share), s.Unit)
	case s.Status == api.ShiftComplete:
		return fmt.Sprintf("all traffic is on %s: start another with: reeve stack shift -to STACK %s", s.To, s.Unit)
	}
	return fmt.Sprintf("all traffic is on %s: start another with: reeve stack shift -to STACK %s", s.From, s.Unit)
}

func percent(share float64) string { return fmt.Sprintf("%.4g %%", share*100) }
