// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
)

// A Refusal is an allocation that cannot be committed to its node any more.
type Refusal struct {
	AllocID string
	NodeID  string
	Reason  string // in words, for operators
}

// Check says which of the allocations to place cannot be committed on the
// view's fleet: their node is gone or takes nothing new, has no room, or one of
// their ports is taken. Allocations that exist already (updates in place) are
// accepted while they hold what they held: existing returns the stored one of
// an id, or nil.
//
// What a refused allocation replaces (the one in its PreviousAllocation) must
// not be stopped either, unless that was lost.
func Check(v *View, place []*api.Allocation, existing func(id string) *api.Allocation) []Refusal {
	var refused []Refusal
	touched := make(map[string]*overlay, len(place))
	for _, a := range place {
		if old := existing(a.ID); old != nil && old.NodeID == a.NodeID {
			continue
		}
		if reason := check(v, touched, a); reason != "" {
			refused = append(refused, Refusal{AllocID: a.ID, NodeID: a.NodeID, Reason: reason})
		}
	}
	return refused
}

func check(v *View, touched map[string]*overlay, a *api.Allocation) string {
	p, i := v.at(a.NodeID)
	if p == nil || p.nodes[i] == nil {
		return "the node is not registered"
	}
	if p.ready&(1<<i) == 0 {
		return fmt.Sprintf("the node takes no new allocations (status %s, %s)", p.nodes[i].Status, p.nodes[i].SchedulingEligibility)
	}
	t := touched[a.NodeID]
	if t == nil {
		t = &overlay{used: p.used[i], ports: p.ports[i]}
		touched[a.NodeID] = t
	}
	if dimension, ok := t.used.Add(a.Usage()).Fits(p.capacity[i]); !ok {
		return "not enough " + dimension
	}
	taken := Ports(a)
	for _, port := range taken {
		if t.ports.has(port) {
			return fmt.Sprintf("port %d is taken", port)
		}
	}
	t.take(a.Usage(), taken)
	return ""
}
