// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
)

// manyEntries returns 10,000 instances, spread over routes.
func manyEntries(routes int) []*api.CatalogEntry {
	var all []*api.CatalogEntry
	for i := range 10_000 {
		all = append(all, entryOf(fmt.Sprintf("alloc-%05d", i), fmt.Sprintf("10.0.%d.%d:80", i/250, i%250), i%routes, 1))
	}
	return all
}

func entryOf(alloc, address string, n int, index uint64) *api.CatalogEntry {
	return &api.CatalogEntry{AllocID: alloc, Namespace: "default", JobID: "web", Index: index, Endpoints: []*api.Endpoint{
		{Address: address, Route: route(host(fmt.Sprintf("host-%d.example.com", n/4)), path(fmt.Sprintf("/part/%d", n)))},
	}}
}

func BenchmarkApplyOne(b *testing.B) {
	for name, routes := range map[string]int{"routes": 1000, "instances": 1} {
		b.Run(name, func(b *testing.B) {
			a := newApplier()
			a.apply(&api.CatalogUpdate{Complete: true, Index: 1, Entries: manyEntries(routes)}, time.Now())
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				i := n % 10_000
				old := fmt.Sprintf("alloc-%05d", i)
				address := fmt.Sprintf("10.1.%d.%d:80", i/250, i%250)
				if n >= 10_000 {
					b.Fatal("run it for fewer rounds")
				}
				a.apply(&api.CatalogUpdate{Index: uint64(n + 2), Removed: []string{old},
					Entries: []*api.CatalogEntry{entryOf(old+"-next", address, i%routes, uint64(n+2))}}, time.Now())
				n++
			}
		})
	}
}

func BenchmarkFind(b *testing.B) {
	a := newApplier()
	a.apply(&api.CatalogUpdate{Complete: true, Index: 1, Entries: manyEntries(10_000)}, time.Now())
	b.ReportAllocs()
	for b.Loop() {
		if a.table.find("host-1250.example.com", "/part/5000/and/more", false) == nil {
			b.Fatal("not found")
		}
	}
}

// A sequence of updates results in the same table as one update with the same
// entries, and reports each instance that left.
func TestAnyUpdatesEndInTheSameTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, want := newApplier(), map[string]*api.CatalogEntry{}
		known := map[*instance]bool{}
		now := time.Unix(1, 0)
		for index := uint64(1); index <= 20; index++ {
			u := &api.CatalogUpdate{Index: index, Complete: rapid.IntRange(0, 5).Draw(t, "complete") == 0}
			if u.Complete {
				clear(want)
			}
			for n := range 4 {
				id := fmt.Sprint(n)
				switch rapid.IntRange(0, 2).Draw(t, "what happens to "+id) {
				case 0:
					e := entryOf(id, fmt.Sprintf("10.0.0.%d:80", rapid.IntRange(1, 3).Draw(t, "address")), rapid.IntRange(0, 3).Draw(t, "route"), index)
					u.Entries, want[id] = append(u.Entries, e), e
				case 1:
					u.Removed = append(u.Removed, id)
					delete(want, id)
				}
			}
			// A message never says both of one allocation.
			for _, i := range a.apply(u, now) {
				if !known[i] {
					t.Fatalf("%s left without having been there", i.alloc)
				}
				delete(known, i)
			}
			for _, i := range a.instances {
				known[i] = true
			}
			if len(known) != len(a.instances) {
				t.Fatalf("%d instances of %d have left without a word", len(known)-len(a.instances), len(known))
			}
			once := newApplier()
			all := &api.CatalogUpdate{Complete: true, Index: index}
			for _, e := range want {
				all.Entries = append(all.Entries, e)
			}
			once.apply(all, now)
			if got, want := pictureOf(a.table), pictureOf(once.table); got != want {
				t.Fatalf("got\n%s\nwant\n%s", got, want)
			}
		}
	})
}

// pictureOf lists the targets of a table.
func pictureOf(t *table) string {
	var b strings.Builder
	for n := range 4 {
		p := t.find("host-0.example.com", fmt.Sprintf("/part/%d", n), false)
		if p == nil || len(p.targets) == 0 {
			continue // never there, or remembered
		}
		fmt.Fprintf(&b, "%s:", p.where())
		for _, to := range p.targets {
			fmt.Fprintf(&b, " %s=%s", to.alloc, to.address)
		}
		b.WriteString("\n")
	}
	return b.String()
}
