// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/state"
)

// A ShiftObserver observes the newer stacks of shifts.
type ShiftObserver interface {
	// Observe returns what happened since the last outcomes that the shift has taken in. It leaves
	// out whether the stack is routable.
	Observe(snap *state.Snapshot, s *api.Shift, now time.Time) lifecycle.Observation
	// Forget forgets a shift that has ended.
	Forget(id string)
}

// shiftKept is how long a shift can be read after its end.
const shiftKept = 30 * 24 * time.Hour

// shifts advances shifts of traffic.
type shifts struct{ observer ShiftObserver }

// NewShifts returns the controller of shifts. Its keys are their ids.
func NewShifts(observer ShiftObserver) Controller { return shifts{observer} }

func (shifts) Name() string { return "shifts" }

func (shifts) All(snap *state.Snapshot) (keys []string) {
	for s := range snap.Shifts() {
		keys = append(keys, s.ID)
	}
	return keys
}

func (shifts) Touched(c *state.Change, add func(string)) {
	if s, ok := c.New.(*api.Shift); ok {
		add(s.ID)
	}
}

func (c shifts) Act(snap *state.Snapshot, key string, now time.Time) ([]state.Command, time.Time) {
	s := snap.Shift(key)
	switch {
	case s == nil:
		return nil, time.Time{}
	case !s.IsActive():
		c.observer.Forget(s.ID)
		if end := s.EndedAt.Add(shiftKept); now.Before(end) {
			return nil, end
		}
		return []state.Command{state.ForgetShift(s)}, time.Time{}
	}
	if ended := endWithStack(snap, s, now); ended != nil {
		return []state.Command{state.PutShift(ended)}, time.Time{}
	}
	observation := c.observer.Observe(snap, s, now)
	observation.ToRoutable = isStackRoutable(snap, s.Namespace, s.To)
	next, wake := lifecycle.Advance(s, observation, now)
	if next == s {
		return nil, wake
	}
	return []state.Command{state.PutShift(next)}, wake
}

// endWithStack ends a shift of which an end is no longer ready, such as a stack that an operator stopped.
func endWithStack(snap *state.Snapshot, s *api.Shift, now time.Time) *api.Shift {
	from, to := snap.Stack(s.Namespace, s.From), snap.Stack(s.Namespace, s.To)
	var gone string
	status := api.ShiftReversed
	switch {
	case to == nil || !to.IsRoutable():
		gone = s.To
	case from == nil || !from.IsRoutable():
		gone, status = s.From, api.ShiftComplete
	default:
		return nil
	}
	n := s.Copy()
	n.Status, n.Reason, n.EndedAt, n.AdvancedAt, n.Held = status, gone+" is no longer ready", now, now, false
	n.Share = 0
	if status == api.ShiftComplete {
		n.Share = 1
	}
	return n
}

// isStackRoutable reports whether at least one instance of a stack takes requests. Reeve cannot see
// instances of a stack outside of Reeve, and trusts its operator.
func isStackRoutable(snap *state.Snapshot, namespace, name string) bool {
	if s := snap.Stack(namespace, name); s != nil && s.IsExternal() {
		return true
	}
	for a := range snap.AllocationsByJob(namespace, name) {
		if a.IsRoutable() {
			return true
		}
	}
	return false
}
