// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/state"
)

// ShiftObserver returns the outcome of each check of a shift over its last interval, nil if the
// interval has not ended.
type ShiftObserver func(s *api.Shift, now time.Time) map[string]lifecycle.CheckResult

// shiftKept is how long a shift can be read after its end.
const shiftKept = 30 * 24 * time.Hour

// shifts advances shifts of traffic.
type shifts struct{ observe ShiftObserver }

// NewShifts returns the controller of shifts. Its keys are their ids.
func NewShifts(observe ShiftObserver) Controller { return shifts{observe} }

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
		if end := s.EndedAt.Add(shiftKept); now.Before(end) {
			return nil, end
		}
		return []state.Command{state.ForgetShift(s)}, time.Time{}
	}
	if ended := endWithStack(snap, s, now); ended != nil {
		return []state.Command{state.PutShift(ended)}, time.Time{}
	}
	next, wake := lifecycle.Advance(s, c.observation(snap, s, now), now)
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

// observation collects what the state and the observer say about a shift's stacks.
func (c shifts) observation(snap *state.Snapshot, s *api.Shift, now time.Time) lifecycle.Observation {
	o := lifecycle.Observation{
		FromRoutable: isStackRoutable(snap, s.Namespace, s.From),
		ToRoutable:   isStackRoutable(snap, s.Namespace, s.To),
	}
	for a := range snap.AllocationsByJob(s.Namespace, s.To) {
		if a.ClientStatus == api.AllocClientFailed && time.Unix(0, a.ModifyTime).After(s.CheckedAt) {
			o.ToCrashed = true
		}
	}
	if c.observe != nil {
		o.Checks = c.observe(s, now)
	}
	return o
}

// isStackRoutable reports whether at least one instance of a stack takes requests.
func isStackRoutable(snap *state.Snapshot, namespace, name string) bool {
	for a := range snap.AllocationsByJob(namespace, name) {
		if a.IsRoutable() {
			return true
		}
	}
	return false
}
