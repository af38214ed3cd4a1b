// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// stacked returns an applier with two stacks of four and two instances on one host, and their pool.
func stacked(share float64) (*applier, func() *pool) {
	a := newApplier()
	route := &api.Route{Protocol: api.RouteHTTP, Host: "inventory.example.com", Path: "/", Shared: true}
	u := &api.CatalogUpdate{Index: 1, Complete: true, Stacks: shareOf(share)}
	for i := range 6 {
		stack := "inventory--1-0-0--aaaaaaaa"
		if i >= 4 {
			stack = "inventory--1-1-0--bbbbbbbb"
		}
		u.Entries = append(u.Entries, &api.CatalogEntry{
			AllocID: fmt.Sprintf("alloc-%d", i), Namespace: "default", JobID: stack, Index: uint64(i),
			Endpoints: []*api.Endpoint{{Route: route, Address: fmt.Sprintf("127.0.0.1:%d", 9000+i)}},
		})
	}
	a.apply(u, time.Now())
	return a, func() *pool { return a.table.find("inventory.example.com", "/", false) }
}

func shareOf(share float64) []*api.StackShare {
	return []*api.StackShare{
		{Namespace: "default", Stack: "inventory--1-0-0--aaaaaaaa", Share: 1 - share},
		{Namespace: "default", Stack: "inventory--1-1-0--bbbbbbbb", Share: share},
	}
}

// drawn returns the part of the requests that the newer stack gets.
func drawn(t *testing.T, p *pool, requests int) float64 {
	t.Helper()
	next := 0
	for range requests {
		target, ok := p.pick("", nil, 0)
		if !ok {
			t.Fatal("no target")
		}
		if target.job == "default/inventory--1-1-0--bbbbbbbb" {
			next++
		}
	}
	return float64(next) / float64(requests)
}

func TestRequestsAreDividedByShare(t *testing.T) {
	const requests = 300_000
	for _, share := range []float64{0, 0.01, 0.25, 0.5, 0.9999, 1} {
		_, pool := stacked(share)
		limit := 3 * math.Sqrt(share*(1-share)/requests)
		var outside []float64
		for range 3 { // chance alone leaves the limit in 3 of 1000 rounds
			if got := drawn(t, pool(), requests); math.Abs(got-share) > limit {
				outside = append(outside, got)
			}
		}
		if len(outside) > 1 {
			t.Errorf("share %v: the stack got %v of %d requests, want it within 3 sigma (%v)", share, outside, requests, limit)
		}
	}
}

func TestALoadedStackKeepsItsShare(t *testing.T) {
	_, pool := stacked(0.5)
	for _, s := range pool().stacks[1].pool.targets {
		s.outstanding.Store(1000)
	}
	if got := drawn(t, pool(), 100_000); math.Abs(got-0.5) > 0.005 {
		t.Errorf("the busy stack got %v of the requests, want its share of 0.5", got)
	}
}

func TestASmallUpdateChangesTheShares(t *testing.T) {
	a, pool := stacked(0)
	a.apply(&api.CatalogUpdate{Index: 2, Stacks: shareOf(0.5)}, time.Now())
	if got := drawn(t, pool(), 100_000); math.Abs(got-0.5) > 0.005 {
		t.Errorf("after an update of the shares the newer stack got %v, want 0.5", got)
	}
}

func TestAStackWithoutInstancesGivesItsRequestsToTheOther(t *testing.T) {
	a, pool := stacked(0.25)
	a.apply(&api.CatalogUpdate{Index: 2, Removed: []string{"alloc-4", "alloc-5"}}, time.Now())
	if got := drawn(t, pool(), 1000); got != 0 {
		t.Errorf("a stack without instances got %v", got)
	}
	a.apply(&api.CatalogUpdate{Index: 3, Removed: []string{"alloc-0", "alloc-1", "alloc-2", "alloc-3"}}, time.Now())
	if _, ok := pool().pick("", nil, 0); ok {
		t.Error("a pool without instances has a target")
	}
}

func TestAStackGetsNoRequestsOfAHostThatAnotherMajorVersionHas(t *testing.T) {
	a, pool := stacked(0.5)
	shares := shareOf(0.5)
	shares[1].Elsewhere = []string{"another.example.com", "inventory.example.com"}
	a.apply(&api.CatalogUpdate{Index: 2, Stacks: shares}, time.Now())
	if got := drawn(t, pool(), 1000); got != 0 {
		t.Errorf("the stack got %v of the requests", got)
	}
	shares = shareOf(0.5)
	shares[1].Elsewhere = []string{"another.example.com"}
	a.apply(&api.CatalogUpdate{Index: 3, Stacks: shares}, time.Now())
	if got := drawn(t, pool(), 100_000); math.Abs(got-0.5) > 0.005 {
		t.Errorf("the stack got %v of the requests, want its share of 0.5", got)
	}
}

func TestATerminatedStackLeavesItsPool(t *testing.T) {
	a, pool := stacked(1)
	a.apply(&api.CatalogUpdate{Index: 2, Removed: []string{"alloc-0", "alloc-1", "alloc-2", "alloc-3"}, Stacks: []*api.StackShare{
		{Namespace: "default", Stack: "inventory--1-0-0--aaaaaaaa", Removed: true},
	}}, time.Now())
	if got := drawn(t, pool(), 1000); got != 1 {
		t.Errorf("the stack that is left got %v of the requests", got)
	}
	if len(a.shares) != 1 || len(a.jobs) != 1 {
		t.Errorf("%d shares and %d jobs are remembered, want those of one stack", len(a.shares), len(a.jobs))
	}
}

func TestDrawingAStackAllocatesNothing(t *testing.T) {
	_, pool := stacked(0.5)
	p := pool()
	if n := testing.AllocsPerRun(1000, func() { p.pick("", nil, 0) }); n != 0 {
		t.Errorf("a draw allocates %v times", n)
	}
}

// BenchmarkPickStack measures one draw of a stack and an instance. Target: 100 ns.
func BenchmarkPickStack(b *testing.B) {
	_, pool := stacked(0.5)
	p := pool()
	b.ReportAllocs()
	for b.Loop() {
		p.pick("", nil, 0)
	}
}
