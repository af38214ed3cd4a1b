// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import "github.com/reeve-run/reeve/api"

var resourcesSchema = &schema[api.Resources]{
	noun: "resources",
	attrs: attrs[api.Resources]{
		"cpu":        func(r *api.Resources) any { return &r.CPU },
		"cores":      func(r *api.Resources) any { return &r.Cores },
		"memory":     func(r *api.Resources) any { return &r.MemoryMB },
		"memory_max": func(r *api.Resources) any { return &r.MemoryMaxMB },
		"disk":       func(r *api.Resources) any { return &r.DiskMB },
		"secrets":    func(r *api.Resources) any { return &r.SecretsMB },
		"iops":       func(r *api.Resources) any { return &r.IOPS },
	},
	blocks: blocks[api.Resources]{
		"network": many(networkSchema, func(r *api.Resources) *[]*api.Network { return &r.Networks }),
		"device":  many(deviceSchema, func(r *api.Resources) *[]*api.DeviceRequest { return &r.Devices }),
		"numa":    one(numaSchema, func(r *api.Resources) **api.NUMA { return &r.NUMA }),
	},
}

var deviceSchema = &schema[api.DeviceRequest]{
	noun:  "device",
	label: "name",
	name:  func(q *api.DeviceRequest) *string { return &q.Name },
	attrs: attrs[api.DeviceRequest]{
		"count": func(q *api.DeviceRequest) any { return &q.Count },
	},
	blocks: blocks[api.DeviceRequest]{
		"constraint": many(constraintSchema, func(q *api.DeviceRequest) *[]*api.Constraint { return &q.Constraints }),
		"affinity":   many(affinitySchema, func(q *api.DeviceRequest) *[]*api.Affinity { return &q.Affinities }),
	},
}

var numaSchema = &schema[api.NUMA]{
	noun: "numa",
	oneOf: map[string][]string{
		"affinity": {"none", "prefer", "require"},
	},
	attrs: attrs[api.NUMA]{
		"affinity": func(n *api.NUMA) any { return &n.Affinity },
		"devices":  func(n *api.NUMA) any { return &n.Devices },
	},
}
