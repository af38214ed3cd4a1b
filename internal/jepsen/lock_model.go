// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"time"

	"github.com/anishathalye/porcupine"
)

// A grip is the state of a lock.
type grip struct {
	held   bool
	holder string        // id of the lock; "" if its acquisition has an unknown outcome
	since  time.Duration // from when its time to live counts, at the earliest
	index  uint64        // of the last write whose index is known
}

// gripMemory is a lock with its state in the last snapshot.
type gripMemory struct{ now, saved grip }

// lockModel is a lock that one client holds at a time, until it releases the lock or its time to live has
// passed. Fencing numbers only increase.
//
// When a lock ends by itself is not an operation: from the end of its time to live on, the model accepts
// both that it has ended and that it has not.
var lockModel = porcupine.Model{
	Init: func() any { return gripMemory{} },
	Step: func(s, in, _ any) (bool, any) {
		m, o := s.(gripMemory), in.(operation)
		switch o.Kind {
		case opSave:
			m.saved = m.now
			return true, m
		case opRestore:
			index := m.now.index
			m.now = m.saved
			m.now.since, m.now.index = o.Call, max(index, m.now.index) // indexes never decrease
			return true, m
		}
		legal, now := gripStep(m.now, o)
		return legal, gripMemory{now, m.saved}
	},
}

func gripStep(g grip, o operation) (bool, grip) {
	own := g.held && g.holder == o.Value && o.Value != ""
	mayHaveEnded := g.held && o.Return >= g.since+lockTTL
	switch {
	case o.Kind == opAcquire && o.Result == resultOK:
		return (!g.held || mayHaveEnded) && o.Index > g.index, grip{true, o.Value, o.Call, o.Index}
	case o.Kind == opAcquire && o.Result == resultConflict:
		return g.held, g
	case o.Kind == opAcquire && !g.held:
		return true, grip{true, "", o.Call, g.index}
	case o.Kind == opAcquire:
		return true, g
	case o.Result == resultConflict:
		return !own || mayHaveEnded, g
	case o.Result == resultOK && !own:
		return false, g
	case o.Kind == opRelease && own:
		return o.Result != resultOK || o.Index > g.index, grip{false, "", 0, max(g.index, o.Index)}
	case o.Kind == opRenew && own:
		g.since = o.Call
	case o.Kind == opFenced && own:
		if o.Result == resultOK && o.Index <= g.index {
			return false, g
		}
		g.index = max(g.index, o.Index)
	}
	return true, g
}
