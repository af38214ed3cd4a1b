// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"bytes"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// TestSignatureTellsRulesApart: whatever decides on which kinds of node a group
// may run, or how welcome it is there, is in its signature. Verdicts are
// remembered by it: a field that is missing would have one job judged as
// another.
func TestSignatureTellsRulesApart(t *testing.T) {
	constraint := []*api.Constraint{{LTarget: "${meta.rack}", Operand: "=", RTarget: "r1"}}
	affinity := []*api.Affinity{{LTarget: "${meta.rack}", Operand: "=", RTarget: "r1", Weight: new(int8(10))}}
	spread := []*api.Spread{{Attribute: "${meta.rack}", Weight: new(int8(10)), Targets: []*api.SpreadTarget{{Value: "r1", Percent: 60}}}}
	network := func(ports api.Network) []*api.Network { return []*api.Network{&ports} }
	device := func(d api.DeviceRequest) func(*api.Job, *api.Group, *Policy) {
		return func(_ *api.Job, g *api.Group, _ *Policy) { g.Tasks[0].Resources.Devices = []*api.DeviceRequest{&d} }
	}
	changes := map[string]func(*api.Job, *api.Group, *Policy){
		"type":             func(j *api.Job, _ *api.Group, _ *Policy) { j.Type = api.JobTypeBatch },
		"pool":             func(j *api.Job, _ *api.Group, _ *Policy) { j.NodePool = "gpu" },
		"datacenters":      func(j *api.Job, _ *api.Group, _ *Policy) { j.Datacenters = []string{"dc1"} },
		"job constraint":   func(j *api.Job, _ *api.Group, _ *Policy) { j.Constraints = constraint },
		"group constraint": func(_ *api.Job, g *api.Group, _ *Policy) { g.Constraints = constraint },
		"task constraint":  func(_ *api.Job, g *api.Group, _ *Policy) { g.Tasks[0].Constraints = constraint },
		"job affinity":     func(j *api.Job, _ *api.Group, _ *Policy) { j.Affinities = affinity },
		"task affinity": func(_ *api.Job, g *api.Group, _ *Policy) {
			g.Tasks[0].Affinities = []*api.Affinity{{LTarget: "${meta.rack}", Operand: "=", RTarget: "r1"}}
		},
		"job spread":   func(j *api.Job, _ *api.Group, _ *Policy) { j.Spreads = spread },
		"group spread": func(_ *api.Job, g *api.Group, _ *Policy) { g.Spreads = append(spread[:1:1], spread...) },
		"spread and size": func(j *api.Job, g *api.Group, _ *Policy) {
			j.Spreads, g.Count = spread, new(77)
		},
		"zones":             func(_ *api.Job, _ *api.Group, p *Policy) { p.ZoneAttribute = "${meta.zone}" },
		"driver":            func(_ *api.Job, g *api.Group, _ *Policy) { g.Tasks[0].Driver = "exec" },
		"another task":      func(_ *api.Job, g *api.Group, _ *Policy) { g.Tasks = append(g.Tasks, g.Tasks[0]) },
		"device":            device(api.DeviceRequest{Name: "gpu"}),
		"device's count":    device(api.DeviceRequest{Name: "gpu", Count: new(uint64(2))}),
		"device constraint": device(api.DeviceRequest{Name: "gpu", Constraints: constraint}),
		"device affinity":   device(api.DeviceRequest{Name: "gpu", Affinities: affinity}),
		"host network": func(_ *api.Job, g *api.Group, _ *Policy) {
			g.Networks = network(api.Network{DynamicPorts: []api.Port{{Label: "a", HostNetwork: "public"}}})
		},
		"task's host network": func(_ *api.Job, g *api.Group, _ *Policy) {
			g.Tasks[0].Resources.Networks = network(api.Network{ReservedPorts: []api.Port{{Label: "a", Value: 80, HostNetwork: "public"}}})
		},
	}
	seen := map[string]string{}
	sign := func(change func(*api.Job, *api.Group, *Policy)) []byte {
		job, policy := testJob(3), Policy{}
		change(job, job.Groups[0], &policy)
		return appendSignature(nil, job, job.Groups[0], policy)
	}
	plain := sign(func(*api.Job, *api.Group, *Policy) {})
	seen[string(plain)] = "nothing"
	for name, change := range changes {
		signature := string(sign(change))
		if other, ok := seen[signature]; ok {
			t.Errorf("a change of %s has the signature of a change of %s", name, other)
		}
		seen[signature] = name
	}
	same := sign(func(j *api.Job, g *api.Group, _ *Policy) {
		j.ID, j.Priority, g.Count, g.Tasks[0].Env = "other", 70, new(9), map[string]string{"A": "b"}
	})
	if !bytes.Equal(plain, same) {
		t.Error("jobs that ask the same of nodes have different signatures: nothing is remembered from one to the next")
	}
}
