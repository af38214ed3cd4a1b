// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// decisionsByTime lists decisions, the oldest first.
var decisionsByTime = order[*api.Decision]{
	key:   func(d *api.Decision) key { return key{index: d.CreateIndex, id: d.ID} },
	dated: true,
}

func getJobDecisions(c *call, v *state.Snapshot) ([]*api.Decision, uint64, error) {
	decisions := v.Decisions(c.namespace, c.id())
	if len(decisions) == 0 && v.Job(c.namespace, c.id()) == nil {
		return nil, v.TableIndex(c.route.Tables...), c.noJob()
	}
	page, err := pageOf(c, decisionsByTime, slices.Values(decisions))
	if err != nil {
		return nil, 0, err
	}
	return ofJob(c, v, slices.Values(page), func(d *api.Decision) uint64 { return d.CreateIndex }, itself)
}
