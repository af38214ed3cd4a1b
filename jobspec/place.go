// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/reeve-run/reeve/api"
)

// A place identifies a part of a job, or one of its keys, whose validity depends on the whole
// job.
type place struct {
	of  any // as api.Problem.At
	key string
}

// placedKeys lists the keys that api.Problem may name.
var placedKeys = []string{
	"path", "requests",
	"after", "daemon", "fate", "timeout", "max_pending", "max_rejections", "url", "headers", "secret", "give_up_after",
	"version", "initial_ttl", "extend_ttl", "grace", "idle", "max_stacks", "policy", "majors", "features", "patches", "host", "sticky", "preview", "route",
	"over", "steps", "after_failure", "min_requests", "interval", "failures", "metric", "max", "than", "http",
}

// notePlace records the position of a part of a job.
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

// checkWhole reports errors that concern the whole job.
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
	return slices.Concat(j.BatchProblems(), j.LifecycleProblems(), j.PlanProblems(), j.StackProblems())
}

// notePlace records the position of a part of a JSON or YAML tree.
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
