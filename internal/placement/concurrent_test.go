// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"sync"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// TestViewsMayBeUsedTogether has several goroutines place on views while the
// fleet goes on changing: what they share (pages, the index, what is remembered
// of rules) must not change under them. The race detector is the judge; and
// what is committed under one lock must never be too much for a node.
func TestViewsMayBeUsedTogether(t *testing.T) {
	f := testFleet(300)
	fleet := NewFleet(f)
	var mu sync.Mutex
	var wg sync.WaitGroup
	var committed []*api.Allocation
	shapes := []string{"plain", "affinity", "spread", "constraint", "port", "distinct", "everything"}
	for w := range 4 {
		wg.Go(func() {
			for i := range 60 {
				job := shaped(shapes[(i+w)%len(shapes)], 3)
				mu.Lock()
				view := fleet.View()
				mu.Unlock()
				out := Place(view, &Order{JobID: job.ID, Requests: requests(job, 3), Seed: uint64(i)})
				mu.Lock()
				refused := map[string]bool{}
				for _, r := range Check(fleet.Live(), out.Place, func(string) *api.Allocation { return nil }) {
					refused[r.AllocID] = true
				}
				for _, a := range out.Place {
					if !refused[a.ID] {
						fleet.Change((*api.Allocation)(nil), a)
						committed = append(committed, a)
					}
				}
				// A node becomes one of another kind.
				n := *f.nodes[(i*7+w)%len(f.nodes)]
				old := f.nodes[(i*7+w)%len(f.nodes)]
				n.Meta = map[string]string{"rack": shapes[i%len(shapes)]}
				n.ComputedClass = api.ComputeClass(&n)
				fleet.Change(old, &n)
				f.nodes[(i*7+w)%len(f.nodes)] = &n
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(committed) < 600 {
		t.Errorf("only %d of 720 were committed", len(committed))
	}
	view := fleet.View()
	for _, n := range f.nodes {
		if dimension, ok := view.Used(n.ID).Fits(n.Capacity()); !ok {
			t.Errorf("%s has more %s taken than it has", n.ID, dimension)
		}
	}
	again := NewFleet(&fixture{nodes: f.nodes, allocs: committed}).View()
	for _, n := range f.nodes {
		if got, want := view.Used(n.ID), again.Used(n.ID); got != want {
			t.Errorf("the fleet says %+v is taken on %s, counted anew it is %+v", got, n.ID, want)
		}
	}
}
