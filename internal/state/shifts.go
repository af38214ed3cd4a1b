// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"iter"

	"github.com/reeve-run/reeve/api"
)

// shifts holds the running shifts, and those that ended a while ago.
var shifts = declare(noun[api.Shift]{
	name: "shifts", singular: "shift", verb: "Shift", frame: 17,
	key:    func(s *api.Shift) string { return s.ID },
	groups: func(s *api.Shift) []string { return []string{jobName(s.Namespace, s.Unit)} },
	stamp:  func(s *api.Shift) (create, modify *uint64) { return &s.CreateIndex, &s.ModifyIndex },
	topic:  api.TopicShift,
	eventKey: func(s *api.Shift) EventKey {
		return EventKey{Key: s.ID, Namespace: s.Namespace, FilterKeys: []string{s.Unit, s.From, s.To}}
	},
	eventType: func(_ Op, s *api.Shift) string {
		switch s.Status {
		case api.ShiftRunning:
			if s.Held {
				return api.EventTypeShiftHeld
			}
		case api.ShiftWaiting:
			return api.EventTypeShiftWaiting
		case api.ShiftReversed:
			return api.EventTypeShiftReversed
		case api.ShiftComplete, api.ShiftSuperseded:
			return api.EventTypeShiftDone
		}
		return api.EventTypeShiftStep
	},
	admit: admitShift,
	alsoWrites: func(s *api.Shift) []Object {
		if s.IsActive() {
			return nil // only the end of a shift changes the target
		}
		return []Object{unitObject(s.Namespace, s.Unit)}
	},
	changed: func(t *txn, old, new *api.Shift) {
		if new == nil {
			t.deleteAudit(old.Namespace, api.AuditShift, old.ID)
			return
		}
		switch {
		case new.IsActive():
		case new.Status == api.ShiftComplete:
			t.setTarget(new.Namespace, new.Unit, new.Major, new.To)
		default:
			t.setTarget(new.Namespace, new.Unit, new.Major, new.From)
		}
		if old == nil || old.Status != new.Status {
			t.audit(&api.AuditRecord{
				Time: new.AdvancedAt, Namespace: new.Namespace, Kind: api.AuditShift, Object: new.ID, Unit: new.Unit,
				Action: new.Status, By: new.ChangedBy, Reason: cmp.Or(new.Reason, "from "+new.From+" to "+new.To),
			})
		}
	},
})

// admitShift rejects a second running shift of a major version of a unit, and any change of a
// shift that has ended.
func admitShift(n *noun[api.Shift], c *content, old, new *api.Shift) error {
	switch {
	case new == nil:
		return nil
	case old != nil && !old.IsActive():
		return api.Errorf(api.CodeConflict, "shift %s has ended (%s): begin another", api.ShortID(old.ID), old.Status)
	case old != nil:
		return nil
	}
	return checkOnlyShift(n, c, new, "")
}

// checkOnlyShift rejects a new shift while another one of its major version runs, apart from the one
// with the id except.
func checkOnlyShift(n *noun[api.Shift], c *content, new *api.Shift, except string) error {
	for other := range n.ofGroup(c, jobName(new.Namespace, new.Unit)) {
		if other.IsActive() && other.Major == new.Major && other.ID != except {
			return api.Errorf(api.CodeConflict, "shift %s of %s %d.x is %s: wait for its end, or reverse it",
				api.ShortID(other.ID), other.Unit, other.Major, other.Status)
		}
	}
	return nil
}

// TableShifts holds *api.Shift.
var TableShifts = shifts.table

// Shift returns the shift of that id, nil if it does not exist.
func (c *content) Shift(id string) *api.Shift { return shifts.find(c, id) }

// Shifts yields all shifts, ordered by id.
func (c *content) Shifts() iter.Seq[*api.Shift] { return shifts.all(c, "") }

// ShiftsOfUnit yields the shifts of a unit in a namespace, ordered by id.
func (c *content) ShiftsOfUnit(namespace, unit string) iter.Seq[*api.Shift] {
	return shifts.ofGroup(c, jobName(namespace, unit))
}

// PutShift returns the command that stores a new or changed shift, unless it was changed
// since it was read.
func PutShift(s *api.Shift) Command { return putShift(s) }

func putShift(s *api.Shift) *putObject[api.Shift] {
	modified := s.ModifyIndex
	return &putObject[api.Shift]{shifts, s, &modified}
}

// ForgetShift returns the command that deletes a shift, unless it was changed since it was read.
func ForgetShift(s *api.Shift) Command {
	modified := s.ModifyIndex
	return &deleteObject[api.Shift]{shifts, shifts.key(s), &modified}
}
