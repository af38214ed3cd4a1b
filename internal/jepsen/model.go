// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"math"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// A cell is the state of a register.
type cell struct {
	value string
	index uint64 // of the last write whose index is known
	known bool   // reports whether index is that of the value
	set   bool   // false: no operation yet; any read may return the value
}

// A memory is a register with its value in the last snapshot.
type memory struct{ now, saved cell }

// model is a register with an index that every write increases. A restore resets it to the value
// in the last snapshot.
//
// The outcome of an unknown write does not contain its index: until the next operation that
// returns the index, the model accepts any index above the last one.
var model = porcupine.Model{
	Init: func() any { return memory{} },
	Step: func(s, in, _ any) (bool, any) {
		m, o := s.(memory), in.(operation)
		switch o.Kind {
		case opSave:
			m.saved = m.now
			return true, m
		case opRestore:
			m.now = m.saved
			return true, m
		}
		legal, now := step(m.now, o)
		return legal, memory{now, m.saved}
	},
}

func step(c cell, o operation) (bool, cell) {
	switch {
	case o.Kind == opRead:
		return !c.set || o.Value == c.value && c.accepts(o.Index), cell{o.Value, o.Index, true, true}
	case o.Kind == opWrite && o.Result == resultOK:
		return o.Index > c.index, cell{o.Value, o.Index, true, true}
	case o.Kind == opWrite:
		return true, cell{o.Value, c.index, false, true}
	case o.Result == resultOK: // of a check-and-set
		return c.accepts(o.Expected) && o.Index > o.Expected, cell{o.Value, o.Index, true, true}
	case o.Result == resultConflict:
		return !c.known || c.index != o.Expected, c
	case c.accepts(o.Expected):
		return true, cell{o.Value, max(c.index, o.Expected), false, true}
	}
	return true, c
}

// accepts reports whether a register may have an index.
func (c cell) accepts(index uint64) bool {
	if c.known {
		return index == c.index
	}
	return !c.set || index > c.index
}

// checkTime bounds the check of one register.
const checkTime = time.Minute

// linearize checks the history of one register or lock.
func linearize(operations []operation) porcupine.CheckResult {
	of := model
	if len(operations) > 0 && strings.HasPrefix(operations[0].Register, lockPrefix) {
		of = lockModel
	}
	var history []porcupine.Operation
	for _, o := range operations {
		returned := int64(o.Return)
		if o.Result == resultUnknown {
			if o.Kind == opRead {
				continue
			}
			returned = math.MaxInt64
		}
		history = append(history, porcupine.Operation{ClientId: o.Client, Input: o, Call: int64(o.Call), Return: returned})
	}
	return porcupine.CheckOperationsTimeout(of, history, checkTime)
}
