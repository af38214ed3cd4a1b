// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"
	"maps"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// mergeServing merges a node's report on whether its allocation serves. Equal values keep
// the same object, because nodes repeat their reports and each copy would stay in memory.
// An ended allocation does not serve. A lost one keeps its last state until another
// allocation replaces it.
func mergeServing(a, update *api.Allocation) {
	if s := update.Serving; s != nil {
		a.Serving = mergedServing(a, s)
	}
	if c := update.Crashes; c != nil && (a.Crashes == nil || *a.Crashes != *c) {
		a.Crashes = c
	}
	if a.IsClientTerminal() && a.ClientStatus != api.AllocClientLost {
		a.Serving = nil
	}
}

// predecessorsRead bounds the search for an allocation's predecessors, because instances
// that keep failing have many.
const predecessorsRead = 64

// Predecessors yields the stored allocations that a replaced, directly or through others,
// newest first.
func (s *Snapshot) Predecessors(a *api.Allocation) iter.Seq[*api.Allocation] {
	return predecessors(a, s.Allocation)
}

func predecessors(a *api.Allocation, find func(string) *api.Allocation) iter.Seq[*api.Allocation] {
	return func(yield func(*api.Allocation) bool) {
		for range predecessorsRead {
			if a.PreviousAllocation == "" {
				return
			}
			if a = find(a.PreviousAllocation); a == nil || !yield(a) {
				return
			}
		}
	}
}

// relieve stops traffic to suspect allocations when a replacement is up. Followers of the
// state see both changes together.
func (t *txn) relieve(old, a *api.Allocation) {
	if a.PreviousAllocation == "" || a.IsSuspect() || !a.IsUp() || !old.IsSuspect() && old.IsUp() || a.IsServerTerminal() {
		return
	}
	for p := range predecessors(a, t.Allocation) {
		if p.Group != a.Group || p.Name != a.Name || p.IsCanary() != a.IsCanary() || !p.IsSuspect() || p.Serving == nil || !p.Serving.Routable {
			continue
		}
		p = p.Copy()
		serving := *p.Serving
		serving.Routable, serving.Reason, serving.Since = false, "its node is not heard of, and allocation "+api.ShortID(a.ID)+" is up in its place", a.ModifyTime
		p.Serving, p.ModifyIndex, p.ModifyTime = &serving, t.index, a.ModifyTime
		t.putAllocation(p)
	}
}

func mergedServing(a *api.Allocation, s *api.Serving) *api.Serving {
	old := a.Serving
	if old == nil || !slices.EqualFunc(old.Services, s.Services, isSameRegistration) {
		return withSharedNames(s, a)
	}
	if old.Up == s.Up && old.Routable == s.Routable && old.Reason == s.Reason && old.Since == s.Since &&
		slices.EqualFunc(old.Failing, s.Failing, isSameFailure) && isSameWarmUp(old.Warm, s.Warm) {
		return old
	}
	merged := *s
	merged.Services = old.Services
	return &merged
}

func isSameRegistration(a, b *api.ServiceRegistration) bool {
	return a == b || a != nil && b != nil && a.ID == b.ID && a.ServiceName == b.ServiceName && a.Namespace == b.Namespace &&
		a.NodeID == b.NodeID && a.Datacenter == b.Datacenter && a.JobID == b.JobID && a.AllocID == b.AllocID &&
		a.Address == b.Address && a.Port == b.Port && a.CreateIndex == b.CreateIndex && a.ModifyIndex == b.ModifyIndex &&
		a.Weight == b.Weight && a.Instance == b.Instance && slices.Equal(a.Tags, b.Tags) && maps.Equal(a.Meta, b.Meta)
}

func isSameWarmUp(a, b *api.WarmProgress) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func isSameFailure(a, b *api.CheckFailure) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// withSharedNames replaces the names in the services with equal strings of the allocation.
func withSharedNames(s *api.Serving, a *api.Allocation) *api.Serving {
	if len(s.Services) == 0 {
		return s
	}
	merged := *s
	merged.Services = make([]*api.ServiceRegistration, 0, len(s.Services))
	for _, r := range s.Services {
		if r == nil {
			continue
		}
		c := *r
		for _, name := range []struct {
			of    *string
			known string
		}{{&c.Namespace, a.Namespace}, {&c.JobID, a.JobID}, {&c.NodeID, a.NodeID}, {&c.AllocID, a.ID}} {
			if *name.of == name.known {
				*name.of = name.known
			}
		}
		merged.Services = append(merged.Services, &c)
	}
	return &merged
}
