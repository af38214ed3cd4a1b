// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import "github.com/reeve-run/reeve/api"

var scalingSchema = &schema[api.Scaling]{
	noun: "scaling",
	attrs: attrs[api.Scaling]{
		"min":     func(s *api.Scaling) any { return &s.Min },
		"max":     func(s *api.Scaling) any { return &s.Max },
		"enabled": func(s *api.Scaling) any { return &s.Enabled },
		"type":    func(s *api.Scaling) any { return &s.Type },
	},
	blocks: blocks[api.Scaling]{
		"policy": anything(func(s *api.Scaling) *map[string]any { return &s.Policy }),
	},
}

// taskScalingSchema is the schema of a task's scaling block, whose label names the resource.
var taskScalingSchema = &schema[api.Scaling]{
	noun:   "scaling",
	label:  "resource",
	name:   func(s *api.Scaling) *string { return &s.Type },
	attrs:  scalingSchema.attrs,
	blocks: scalingSchema.blocks,
	finish: func(d *decoder, s *api.Scaling, b *block) {
		if len(b.labels) == 1 {
			s.Type = "vertical_" + b.labels[0]
		}
	},
}
