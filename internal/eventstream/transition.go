// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// A transition is an allocation before and after a log entry; nil if it does not exist.
type transition struct{ old, new *api.Allocation }

// transitionsOf merges the changes of each allocation in a batch, in the order of their
// first changes.
func transitionsOf(b *state.Batch) []transition {
	var transitions []transition
	var at map[string]int // several changes of one allocation are rare
	for i, c := range b.Changes {
		if c.Table != state.TableAllocations {
			continue
		}
		before, _ := c.Old.(*api.Allocation)
		after, _ := c.New.(*api.Allocation)
		id := idOf(before, after)
		if at == nil {
			at = make(map[string]int, len(b.Changes)-i)
		}
		if j, ok := at[id]; ok {
			transitions[j].new = after
			continue
		}
		at[id] = len(transitions)
		transitions = append(transitions, transition{before, after})
	}
	return transitions
}

func idOf(a, b *api.Allocation) string {
	if a != nil {
		return a.ID
	}
	return b.ID
}
