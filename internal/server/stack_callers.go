// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// movedCallers returns a sentence for each caller and exposed host of a stack that was stopped between two
// snapshots: what serves it now.
func movedCallers(before, after *state.Snapshot, stopped *api.Stack, now time.Time) (warnings []string) {
	served := make(map[string][]string) // by caller
	for _, e := range control.CallersIndex(after, stopped.Unit).Edges(now) {
		if unit, _, _, ok := api.ParseStackName(e.To.ID); ok && unit == stopped.Unit && e.Kind != lifecycle.EdgeTag {
			served[e.From] = append(served[e.From], e.To.ID)
		}
	}
	for _, e := range control.CallersIndex(before, stopped.Unit).Edges(now) {
		if e.To != stopped.Key() || e.Kind == lifecycle.EdgeTag || e.Share == 0 {
			continue
		}
		if to := served[e.From]; len(to) > 0 {
			slices.Sort(to)
			warnings = append(warnings, e.From+" used it, and now reaches "+strings.Join(slices.Compact(to), ", "))
		} else {
			warnings = append(warnings, e.From+" used it, and no other stack of "+stopped.Unit+" serves it now")
		}
	}
	return warnings
}
