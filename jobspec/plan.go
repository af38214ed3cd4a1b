// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/reeve-run/reeve/api"
)

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

// notePlace remembers where a part of a plan stands: what is wrong with it is
// known only when the whole job is.
func notePlace[T any](d *decoder, obj *T, b *block) {
	if d.places == nil {
		d.places = map[any]hcl.Range{}
	}
	d.places[obj] = b.kindRange
	if len(b.labelAt) > 0 {
		d.places[obj] = b.labelAt[0]
	}
}

// checkPlans complains of plans that could never be carried out.
func checkPlans(d *decoder, j *api.Job) {
	for _, p := range j.PlanProblems() {
		d.addAt(d.places[p.At], "%s", p.Text)
	}
}

// notePlace is the same for a part of a JSON or YAML tree.
func (m *modelDecoder) notePlace(part any, at span) {
	switch part.(type) {
	case *api.PlanSpec, *api.PhaseSpec, *api.StepSpec:
		if m.places == nil {
			m.places = map[any]span{}
		}
		m.places[part] = at
	}
}

func (m *modelDecoder) checkPlans(j *api.Job) {
	for _, p := range j.PlanProblems() {
		m.add(m.places[p.At], "%s", p.Text)
	}
}
