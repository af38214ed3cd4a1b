// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/reeve-run/reeve/api"
)

// A place is where a part of a job stands, or a key of it, of which it is known only with the
// whole job whether it is right.
type place struct {
	of  any // as in api.Problem
	key string
}

// placedKeys are keys that api.Problem may name.
var placedKeys = []string{
	"after", "daemon", "fate", "timeout", "max_pending", "max_rejections", "url", "headers", "secret", "give_up_after",
}

// notePlace remembers where a part of a job stands.
func notePlace[T any](d *decoder, obj *T, b *block) {
	if d.places == nil {
		d.places = map[place]hcl.Range{}
	}
	d.places[place{of: obj}] = b.kindRange
	if len(b.labelAt) > 0 {
		d.places[place{of: obj}] = b.labelAt[0]
	}
	for _, key := range placedKeys {
		if a := b.body.Attributes[key]; a != nil {
			d.places[place{obj, key}] = a.Expr.Range()
		}
	}
	for _, nested := range b.body.Blocks {
		if slices.Contains(placedKeys, nested.Type) {
			d.places[place{obj, nested.Type}] = nested.TypeRange
		}
	}
}

// checkWhole complains of what could never be carried out as the job has it.
func (d *decoder) checkWhole(j *api.Job) {
	for _, p := range wholeProblems(j) {
		at, ok := d.places[place{p.At, p.Key}]
		if !ok {
			at = d.places[place{of: p.At}]
		}
		d.addAt(at, "%s", p.Text)
	}
}

func wholeProblems(j *api.Job) []api.Problem {
	return slices.Concat(j.BatchProblems(), j.LifecycleProblems(), j.PlanProblems())
}

// notePlace is the same for a part of a JSON or YAML tree.
func (m *modelDecoder) notePlace(obj any, n *node) {
	switch obj.(type) {
	case *api.PlanSpec, *api.PhaseSpec, *api.StepSpec, *api.Group, *api.Task, *api.Job, *api.JobCallback:
		if m.places == nil {
			m.places = map[place]span{}
		}
		m.places[place{of: obj}] = n.at
		for _, f := range n.fields {
			for _, key := range placedKeys {
				if fold(key) == fold(f.name) {
					m.places[place{obj, key}] = f.value.at
				}
			}
		}
	}
}

func (m *modelDecoder) checkWhole(j *api.Job) {
	for _, p := range wholeProblems(j) {
		at, ok := m.places[place{p.At, p.Key}]
		if !ok {
			at = m.places[place{of: p.At}]
		}
		m.add(at, "%s", p.Text)
	}
}
