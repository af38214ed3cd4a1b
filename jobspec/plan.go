// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import "github.com/reeve-run/reeve/api"

var planSchema = &schema[api.PlanSpec]{
	noun:  "plan",
	label: "name",
	name:  func(p *api.PlanSpec) *string { return &p.Name },
	oneOf: map[string][]string{"strategy": {api.StrategySerial, api.StrategyParallel, api.StrategyDependency}},
	attrs: attrs[api.PlanSpec]{
		"strategy": func(p *api.PlanSpec) any { return &p.Strategy },
	},
	blocks: blocks[api.PlanSpec]{
		"phase": many(phaseSchema, func(p *api.PlanSpec) *[]*api.PhaseSpec { return &p.Phases }),
	},
	finish: notePlace[api.PlanSpec],
}

var phaseSchema = &schema[api.PhaseSpec]{
	noun:  "phase",
	label: "name",
	name:  func(p *api.PhaseSpec) *string { return &p.Name },
	oneOf: map[string][]string{"strategy": {
		api.StrategySerial, api.StrategyParallel, api.StrategyDependency,
		api.StrategySerialCanary, api.StrategyParallelCanary, "canary",
	}},
	attrs: attrs[api.PhaseSpec]{
		"group":        func(p *api.PhaseSpec) any { return &p.Group },
		"strategy":     func(p *api.PhaseSpec) any { return &p.Strategy },
		"max_parallel": func(p *api.PhaseSpec) any { return &p.MaxParallel },
		"stagger":      func(p *api.PhaseSpec) any { return &p.Stagger },
		"after":        func(p *api.PhaseSpec) any { return &p.After },
	},
	blocks: blocks[api.PhaseSpec]{
		"step": many(stepSchema, func(p *api.PhaseSpec) *[]*api.StepSpec { return &p.Steps }),
	},
	finish: notePlace[api.PhaseSpec],
}

var stepSchema = &schema[api.StepSpec]{
	noun:     "step",
	required: []string{"tasks"},
	attrs: attrs[api.StepSpec]{
		"name":  func(s *api.StepSpec) any { return &s.Name },
		"index": func(s *api.StepSpec) any { return &s.Index },
		"tasks": func(s *api.StepSpec) any { return &s.Tasks },
		"after": func(s *api.StepSpec) any { return &s.After },
	},
	finish: notePlace[api.StepSpec],
}
