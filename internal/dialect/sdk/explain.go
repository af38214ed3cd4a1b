// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// explain returns the reason why a pod was not placed.
func explain(m *api.PlacementMetrics) string {
	if m == nil {
		return "no node suits"
	}
	reasons := []string{fmt.Sprintf("%d nodes were evaluated", m.NodesEvaluated)}
	for _, why := range slices.Sorted(maps.Keys(m.ConstraintFiltered)) {
		reasons = append(reasons, fmt.Sprintf("%d left out by %s", m.ConstraintFiltered[why], why))
	}
	for _, what := range slices.Sorted(maps.Keys(m.DimensionExhausted)) {
		reasons = append(reasons, fmt.Sprintf("%d without enough %s", m.DimensionExhausted[what], what))
	}
	return strings.Join(reasons, "; ")
}

// timestamp writes a time in Unix nanoseconds.
func timestamp(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }
