// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

func TestSpreadError(t *testing.T) {
	zones := map[string]bool{"a": true, "b": true, "c": true}
	target := func(value string, percent uint8) *api.SpreadTarget {
		return &api.SpreadTarget{Value: value, Percent: percent}
	}
	for name, c := range map[string]struct {
		spread api.Spread
		have   map[string]int
		want   float64
	}{
		"even":             {api.Spread{}, map[string]int{"a": 2, "b": 2, "c": 2}, 0},
		"one too many":     {api.Spread{}, map[string]int{"a": 4, "b": 1, "c": 1}, 2},
		"none in a zone":   {api.Spread{}, map[string]int{"a": 3, "b": 3}, 2},
		"as wanted":        {api.Spread{Targets: []*api.SpreadTarget{target("a", 50), target("b", 50)}}, map[string]int{"a": 3, "b": 3}, 0},
		"the rest is even": {api.Spread{Targets: []*api.SpreadTarget{target("a", 50)}}, map[string]int{"a": 4, "b": 2, "c": 2}, 0},
		"beside a target":  {api.Spread{Targets: []*api.SpreadTarget{target("a", 50)}}, map[string]int{"b": 4, "c": 4}, 4},
	} {
		if got := spreadError(&c.spread, c.have, zones); got != c.want {
			t.Errorf("%s: off by %v, want %v", name, got, c.want)
		}
	}
}

func TestLatency(t *testing.T) {
	var all []time.Duration
	for i := 1000; i > 0; i-- {
		all = append(all, time.Duration(i))
	}
	if diff := cmp.Diff(Latency{1000, 501, 901, 991, 1000}, latency(all)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := latency(nil); got != (Latency{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

// TestStrandedRoom has one node that is full of memory with processors left, and
// one with room.
func TestStrandedRoom(t *testing.T) {
	ask, mem := 100, 1000
	g := &group{spec: &api.Group{Name: "g", Tasks: []*api.Task{{Resources: &api.Resources{CPU: &ask, MemoryMB: &mem}}}}}
	r := &run{report: &Report{}, order: []*job{{groups: map[string]*group{"g": g}}}}
	for _, used := range []int64{4000, 2000} {
		self := &api.Node{Resources: &api.NodeResources{
			CPU: api.NodeCPU{CPUShares: 1000}, Memory: api.NodeMemory{MemoryMB: 4500}, Disk: api.NodeDisk{DiskMB: 10},
		}}
		r.nodes = append(r.nodes, &node{self: self, power: true, used: [dimensions]int64{used / 10, used, 0}})
	}
	r.measureCapacity()
	want := []DimensionReport{
		{Dimension: "cpu", Capacity: 2000, Used: 600, Free: 1400, Stranded: 600},
		{Dimension: "memory", Capacity: 9000, Used: 6000, Free: 3000, Stranded: 500},
		{Dimension: "disk", Capacity: 20, Free: 20, Stranded: 10},
	}
	if diff := cmp.Diff(want, r.report.Capacity); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNumbersForPeople(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 2_000_000: "2,000,000", -1234: "-1,234"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{1500: "2µs", 1234567: "1.2ms", 2500 * time.Millisecond: "2.5s", 90 * time.Second: "1m30s"} {
		if got := short(d); got != want {
			t.Errorf("%d is written %s, want %s", d, got, want)
		}
	}
}
