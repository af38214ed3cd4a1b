// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// Shifts lists the shifts of a namespace, or of all if it is "*", newest first, and the index of
// their last change.
func Shifts(snap *state.Snapshot, namespace string) ([]*api.Shift, uint64) {
	list := []*api.Shift{}
	for shift := range snap.Shifts() {
		if namespace == "*" || shift.Namespace == namespace {
			list = append(list, shift)
		}
	}
	slices.SortStableFunc(list, func(a, b *api.Shift) int { return b.StartedAt.Compare(a.StartedAt) })
	return list, snap.LifecycleIndex()
}

// Shift returns the shift of an id or of its beginning, the newest shift of a stack, or the running shift
// of a unit, or the unit's last one.
func Shift(snap *state.Snapshot, namespace, name string) (*api.Shift, uint64, error) {
	shift, err := findShift(snap, namespace, name, lastShift)
	return shift, snap.LifecycleIndex(), err
}

// findShift returns the shift of an id or of its beginning in a namespace ("*": in any). Any other name is
// that of a unit.
func findShift(snap *state.Snapshot, namespace, name string, ofUnit func(*state.Snapshot, string, string) (*api.Shift, error)) (*api.Shift, error) {
	isIn := func(s *api.Shift) bool { return namespace == "*" || s.Namespace == namespace }
	if shift := snap.Shift(name); shift != nil && isIn(shift) {
		return shift, nil
	}
	var found *api.Shift
	for shift := range snap.Shifts() {
		if len(name) >= 4 && strings.HasPrefix(shift.ID, name) && isIn(shift) {
			if found != nil {
				return nil, api.Errorf(api.CodeInvalid, "several shifts have ids that begin with %q: give more of it", name)
			}
			found = shift
		}
	}
	if found != nil {
		return found, nil
	}
	if end := shiftEnd(snap, namespace, name); end != nil {
		return stackShift(snap, end)
	}
	return ofUnit(snap, namespace, name)
}

// StartShift begins a shift of a unit's traffic to one of its ready stacks.
func (s *Server) StartShift(ctx context.Context, namespace, unit string, req *api.ShiftRequest) (*api.ShiftResponse, error) {
	if req == nil || req.To == "" {
		return nil, api.Errorf(api.CodeInvalid, "begin a shift: the request names no stack; send {\"To\": \"VERSION or STACK\"}")
	}
	if req.Spec != nil {
		if err := req.Spec.Validate(); err != nil {
			return nil, err
		}
	}
	for attempt := 1; ; attempt++ {
		begin, err := newShift(s.store.Snapshot(), namespace, unit, req, time.Now())
		if err != nil {
			return nil, err
		}
		index, err := s.propose(ctx, begin)
		if api.CodeOf(err) == api.CodeConflict && begin.Ended != nil && attempt < changeAttempts {
			continue // the shift to supersede advanced
		}
		if err != nil {
			return nil, err
		}
		return &api.ShiftResponse{Shift: s.store.Snapshot().Shift(begin.Shift.ID), Index: index}, nil
	}
}

// newShift returns the command that begins the shift of a request.
func newShift(snap *state.Snapshot, namespace, unit string, req *api.ShiftRequest, now time.Time) (*state.BeginShift, error) {
	to, err := shiftTarget(snap, namespace, unit, req.To)
	if err != nil {
		return nil, err
	}
	x := control.UnitIndex(snap, namespace, unit)
	t := x.Shares(namespace, unit, to.Version.Major)
	by := cmp.Or(req.By, "unknown")
	switch {
	case t.Stack == nil:
		return nil, api.Errorf(api.CodeConflict, "unit %s %d.x has no ready stack to shift from", unit, to.Version.Major)
	case t.Stack.Name == to.Name && t.Next != nil:
		return nil, api.Errorf(api.CodeConflict, "traffic shifts from %s to %s: return it with: reeve stack shift %s reverse", to.Name, t.Next.Name, unit)
	case t.Stack.Name == to.Name:
		return nil, api.Errorf(api.CodeConflict, "%s receives all traffic of %s %d.x already", to.Name, unit, to.Version.Major)
	}
	spec := req.Spec
	if spec == nil {
		spec = to.Spec.ShiftPolicy()
	}
	begin := &state.BeginShift{Shift: lifecycle.NewShift(api.NewID(), t.Stack, to, spec, by, now)}
	if begin.Shift.Spec.Policy == api.ShiftNone {
		begin.Shift.Spec.Policy = "" // an operator asks for traffic
	}
	if t.Next == nil || !req.Supersede {
		return begin, nil
	}
	if running := snap.Shift(x.ShiftOf(t.Next)); running != nil {
		begin.Ended, err = lifecycle.Supersede(running, by, now)
	}
	return begin, err
}

// ShiftVerbs lists the verbs of ShiftVerb.
func ShiftVerbs() []string { return []string{"pause", "resume", "reverse", "finish", "set"} }

// ShiftVerb pauses, resumes, reverses or finishes a shift, or sets its share. The name is a
// shift's id, that of a stack, or that of a unit with one running shift.
func (s *Server) ShiftVerb(ctx context.Context, namespace, name, verb string, req *api.ShiftVerbRequest) (*api.ShiftResponse, error) {
	if req == nil {
		req = &api.ShiftVerbRequest{}
	}
	for attempt := 1; ; attempt++ {
		snap := s.store.Snapshot()
		old, err := findShift(snap, namespace, name, unitShift)
		if err != nil {
			return nil, err
		}
		next, err := changeShift(old, shiftEnd(snap, namespace, name), verb, req, time.Now())
		if err != nil {
			return nil, err
		}
		var index uint64
		if next != old {
			next.ChangedBy = cmp.Or(req.By, "unknown")
			index, err = s.propose(ctx, state.PutShift(next))
		}
		if api.CodeOf(err) == api.CodeConflict && attempt < changeAttempts {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &api.ShiftResponse{Shift: s.store.Snapshot().Shift(old.ID), Index: index}, nil
	}
}

// changeShift applies a verb to a shift. The end is the stack that the operator named, nil if it was the unit or
// the shift.
func changeShift(old *api.Shift, end *api.Stack, verb string, req *api.ShiftVerbRequest, now time.Time) (*api.Shift, error) {
	by := cmp.Or(req.By, "unknown")
	switch verb {
	case "pause":
		return lifecycle.Pause(old, "paused by "+by+because(req.Reason), now)
	case "resume":
		return lifecycle.Resume(old, now)
	case "reverse":
		if end != nil {
			return lifecycle.ReverseFor(old, end.Name, "reversed by "+by+because(req.Reason), req.Now, now)
		}
		return lifecycle.Reverse(old, "reversed by "+by+because(req.Reason), req.Now, now)
	case "finish":
		return lifecycle.Finish(old, by+because(req.Reason), now)
	case "set":
		if req.Share == nil {
			return nil, api.Errorf(api.CodeInvalid, "set the share of a shift: the request has no Share; send {\"Share\": 0.25}")
		}
		return lifecycle.SetShare(old, *req.Share, by+because(req.Reason), now)
	}
	return nil, api.Errorf(api.CodeInvalid, "unknown verb %q of a shift: use one of %s", verb, strings.Join(ShiftVerbs(), ", "))
}

// because appends an operator's reason to a sentence.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// StackAudit returns the audit records of a stack and of the shifts that it is an end of, newest first.
func StackAudit(snap *state.Snapshot, s *api.Stack) []*api.AuditRecord {
	records := slices.AppendSeq([]*api.AuditRecord{}, snap.Audit(s.Namespace, api.AuditStack, s.Name))
	for shift := range snap.ShiftsOfUnit(s.Namespace, s.Unit) {
		if shift.From == s.Name || shift.To == s.Name {
			records = slices.AppendSeq(records, snap.Audit(s.Namespace, api.AuditShift, shift.ID))
		}
	}
	slices.SortStableFunc(records, func(a, b *api.AuditRecord) int {
		return cmp.Or(cmp.Compare(b.CreateIndex, a.CreateIndex), strings.Compare(b.ID, a.ID))
	})
	return records
}

// lastShiftOf returns the last shift that a stack is an end of, nil if there was no shift.
func lastShiftOf(snap *state.Snapshot, s *api.Stack) (last *api.Shift) {
	for shift := range snap.ShiftsOfUnit(s.Namespace, s.Unit) {
		if (shift.From == s.Name || shift.To == s.Name) && (last == nil || shift.StartedAt.After(last.StartedAt)) {
			last = shift
		}
	}
	return last
}
