// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
)

func TestPortSetIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, model := (*portSet)(nil).clone(), map[int]bool{}
		port := rapid.OneOf(rapid.IntRange(1, 65535), rapid.SampledFrom([]int{1, 63, 64, 1023, 1024, 65535}))
		t.Repeat(map[string]func(*rapid.T){
			"add":    func(t *rapid.T) { p := port.Draw(t, "port"); set.add(p); model[p] = true },
			"remove": func(t *rapid.T) { p := port.Draw(t, "port"); set.remove(p); delete(model, p) },
			"clone": func(t *rapid.T) {
				before := set
				set = set.clone()
				p := port.Draw(t, "port")
				set.add(p)
				if before.has(p) != model[p] {
					t.Fatalf("adding %d to a clone changed the original", p)
				}
				model[p] = true
			},
			"free": func(t *rapid.T) {
				lo := rapid.IntRange(1, 65535).Draw(t, "lo")
				hi := rapid.IntRange(lo, min(lo+100, 65535)).Draw(t, "hi")
				start := rapid.IntRange(lo, hi).Draw(t, "start")
				got, want := (&overlay{ports: set}).freePort("", lo, hi, start, nil), 0
				for i := range hi - lo + 1 {
					if p := lo + (start-lo+i)%(hi-lo+1); !model[p] {
						want = p
						break
					}
				}
				if got != want {
					t.Fatalf("the first free port of %d-%d from %d is %d, want %d", lo, hi, start, got, want)
				}
			},
			"": func(t *rapid.T) {
				for p := range model {
					if !set.has(p) {
						t.Fatalf("%d is in the set and not found", p)
					}
				}
			},
		})
	})
}

func TestDynamicPortsRunOut(t *testing.T) {
	f := testFleet(1)
	f.nodes[0].Resources.MinDynamicPort, f.nodes[0].Resources.MaxDynamicPort = 30000, 30004
	f.nodes[0].Reserved = &api.NodeReserved{Networks: api.NodeReservedNetworks{ReservedHostPorts: " 30001 , x, 9-8"}}
	job := testJob(3)
	job.Groups[0].Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "a"}, {Label: "b"}}}}
	out := place(f, job, 3)
	if len(out.Place) != 2 {
		t.Fatalf("%d instances of two ports each have a place in four ports, want 2", len(out.Place))
	}
	seen := map[int]bool{}
	for _, a := range out.Place {
		for _, p := range Ports(a) {
			if p < 30000 || p > 30004 || p == 30001 || seen[p] {
				t.Errorf("port %d is given", p)
			}
			seen[p] = true
		}
	}
	if m := out.Failed["web"]; m.DimensionExhausted["network: dynamic port selection failed"] != 1 {
		t.Errorf("running out of ports explains itself as %+v", m.DimensionExhausted)
	}
}
