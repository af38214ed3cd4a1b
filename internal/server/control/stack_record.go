// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// terminatedKept bounds the terminated stacks of a unit in a namespace whose records and
// submitted jobs are kept.
const terminatedKept = 200

// forgetStacks deletes a terminated stack after AuditKept. The stack of a unit that was
// terminated last deletes the oldest ones if too many are kept.
func forgetStacks(snap *state.Snapshot, s *api.Stack, now time.Time) ([]state.Command, time.Time) {
	end := s.StatusSince.Add(api.AuditKept)
	if !now.Before(end) {
		return []state.Command{state.ForgetStack(s)}, time.Time{}
	}
	var ended []*api.Stack
	for other := range snap.StacksOfUnit(s.Namespace, s.Unit) {
		if other.Status != api.StackTerminated {
			continue
		}
		if other.ModifyIndex > s.ModifyIndex {
			return nil, end
		}
		ended = append(ended, other)
	}
	slices.SortFunc(ended, func(a, b *api.Stack) int { return b.StatusSince.Compare(a.StatusSince) })
	var cmds []state.Command
	for _, old := range ended[min(len(ended), terminatedKept):] {
		cmds = append(cmds, state.ForgetStack(old))
	}
	return cmds, end
}
