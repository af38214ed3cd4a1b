// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// HasUnseen reports whether a view may have counted a placement of a job up to a priority that
// the state of the given index lacks. Such a placement takes room, but a placement on that
// state cannot preempt it.
func (t *Tracker) HasUnseen(index uint64, priority int) bool {
	if len(t.awaited(priority)) > 0 {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.newest(priority) > index
}

// AwaitUnseen waits until the placements for which HasUnseen reports true are committed or
// given up, and returns the index of a state that has them, at least the given one.
func (t *Tracker) AwaitUnseen(ctx context.Context, index uint64, priority int) (uint64, error) {
	waiting := t.awaited(priority)
	for {
		t.mu.Lock()
		moved := t.moved
		for id := range waiting {
			if !t.fleet.IsReserved(id) {
				delete(waiting, id)
			}
		}
		newest := t.newest(priority)
		t.mu.Unlock()
		if len(waiting) == 0 {
			return max(index, newest), nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// newest returns the index of the newest placement of a job up to a priority.
func (t *Tracker) newest(priority int) (index uint64) {
	for i := range min(priority, api.JobPriorityMax) + 1 {
		index = max(index, t.placed[i])
	}
	return index
}

// note records a placement that was committed.
func (t *Tracker) note(c *state.Change, index uint64) {
	old, _ := c.Old.(*api.Allocation)
	if a, _ := c.New.(*api.Allocation); a != nil && old == nil {
		t.placed[priorityOf(a)] = index
	}
}

// awaited returns the ids of the uncommitted placements of jobs up to a priority.
func (t *Tracker) awaited(priority int) map[string]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	ids := map[string]bool{}
	if t.fleet == nil {
		return ids
	}
	for a := range t.fleet.Reserved() {
		if priorityOf(a) <= priority {
			ids[a.ID] = true
		}
	}
	return ids
}

func priorityOf(a *api.Allocation) int {
	if a.Job == nil {
		return 0
	}
	return min(max(a.Job.Priority, 0), api.JobPriorityMax)
}
