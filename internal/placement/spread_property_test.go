// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
)

// zones draws nodes in a few zones, and how many instances of 100 MHz each zone
// has room for.
func zones(t *rapid.T) (f *fixture, room map[string]int) {
	f, room = &fixture{}, map[string]int{}
	for z := range rapid.IntRange(2, 4).Draw(t, "zones") {
		zone := fmt.Sprintf("z%d", z)
		for range rapid.IntRange(1, 6).Draw(t, "nodes") {
			n := testNode(len(f.nodes))
			fits := rapid.IntRange(1, 12).Draw(t, "room")
			n.Resources.CPU.CPUShares = int64(100*fits + 50)
			n.Meta = map[string]string{"zone": zone}
			n.ComputedClass = api.ComputeClass(n)
			room[zone] += fits
			f.nodes = append(f.nodes, n)
		}
	}
	return f, room
}

// spreadOver places n instances spread over zones, and counts them by zone.
func spreadOver(f *fixture, n int, targets []*api.SpreadTarget) map[string]int {
	job := testJob(n)
	job.Groups[0].Spreads = []*api.Spread{{Attribute: "${meta.zone}", Targets: targets}}
	view := NewFleet(f).View()
	counts := map[string]int{}
	for _, a := range Place(view, &Order{JobID: job.ID, Requests: requests(job, n)}).Place {
		counts[view.Node(a.NodeID).Meta["zone"]]++
	}
	return counts
}

// TestEvenSpreadIsWithinOneOfTheBest spreads instances over zones some of which
// may be too small: no zone may have two more than another that has room.
func TestEvenSpreadIsWithinOneOfTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, room := zones(t)
		counts := spreadOver(f, rapid.IntRange(1, 60).Draw(t, "instances"), nil)
		for a := range room {
			for b := range room {
				if counts[b] < room[b] && counts[a] > counts[b]+1 {
					t.Fatalf("%s has %d instances, %s has %d and room for %d", a, counts[a], b, counts[b], room[b])
				}
			}
		}
	})
}

// TestTargetedSpreadIsWithinOneOfTheBest spreads instances by percentages: a
// zone has its share, to within one, as far as it and the others have room.
func TestTargetedSpreadIsWithinOneOfTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, room := zones(t)
		n := rapid.IntRange(1, 60).Draw(t, "instances")
		left := 100
		var targets []*api.SpreadTarget
		wanted := map[string]float64{}
		names := slices.Sorted(maps.Keys(room))
		for i, zone := range names {
			percent := left
			if i < len(names)-1 {
				percent = rapid.IntRange(0, left).Draw(t, "percent")
			}
			left -= percent
			targets = append(targets, &api.SpreadTarget{Value: zone, Percent: uint8(percent)})
			wanted[zone] = float64(n*percent) / 100
		}
		counts := spreadOver(f, n, targets)
		// Who has the least of its share, and room, is next: so no zone with
		// room is an instance further from its share than one that took more.
		for a := range room {
			for b := range room {
				if counts[b] == room[b] || counts[a] == 0 || wanted[b] == 0 {
					continue
				}
				last := (float64(counts[a]) - 0.5) / wanted[a] // load when it got its last one
				if next := (float64(counts[b]) + 0.5) / wanted[b]; next < last-1e-9 {
					t.Fatalf("%s has %d of %g, %s only %d of %g and room for %d", a, counts[a], wanted[a], b, counts[b], wanted[b], room[b])
				}
			}
		}
		// To within one of the share: with more than three parties Webster's method
		// may rarely give one of them more.
		roomy := len(room) <= 3
		for zone := range room {
			roomy = roomy && float64(room[zone]) >= wanted[zone]+1
		}
		for zone := range room {
			if got := float64(counts[zone]); roomy && math.Abs(got-wanted[zone]) > 1 {
				t.Fatalf("%s has %g instances, its share is %g; all: %v", zone, got, wanted[zone], counts)
			}
		}
	})
}
