// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// BeginShift stores a new shift with the change that it depends on, all or nothing. A reader, or a
// server that restarts, never finds a unit between two shifts, or a promoted stack without its shift.
type BeginShift struct {
	Shift *api.Shift
	// Ended is the running shift of the same major version that the new one supersedes; nil: none.
	Ended *api.Shift `json:",omitempty"`
	// Stack is the stack Shift.To, which becomes ready with the shift; nil: it is ready already.
	Stack *api.Stack `json:",omitempty"`
}

// Name implements Command.
func (c *BeginShift) Name() string { return "BeginShift" }

func (c *BeginShift) apply(t *txn) error {
	if c.Shift == nil || !c.Shift.IsActive() {
		return api.Errorf(api.CodeInvalid, "the shift to begin is missing, or has ended")
	}
	if t.Shift(c.Shift.ID) != nil {
		return api.Errorf(api.CodeConflict, "shift %s exists already", api.ShortID(c.Shift.ID))
	}
	ended := ""
	if c.Ended != nil {
		if c.Ended.IsActive() {
			return api.Errorf(api.CodeInvalid, "shift %s to supersede is still %s", api.ShortID(c.Ended.ID), c.Ended.Status)
		}
		if err := putShift(c.Ended).check(t); err != nil {
			return err
		}
		ended = c.Ended.ID
	}
	if err := checkOnlyShift(shifts, t.content, c.Shift, ended); err != nil {
		return err
	}
	if c.Stack != nil {
		if err := putStack(c.Stack).check(t); err != nil {
			return err
		}
	}
	if c.Ended != nil {
		putShift(c.Ended).do(t)
	}
	putShift(c.Shift).do(t)
	if c.Stack != nil {
		putStack(c.Stack).do(t)
	}
	return nil
}

// writes returns the objects that the command writes.
func (c *BeginShift) writes() (objects []Object) {
	for _, s := range []*api.Shift{c.Ended, c.Shift} {
		if s != nil {
			objects = append(objects, putShift(s).writes()...)
		}
	}
	if c.Stack != nil {
		objects = append(objects, putStack(c.Stack).writes()...)
	}
	return objects
}

func (c *BeginShift) encode() *wire.Command { return documentCommand(c) }
