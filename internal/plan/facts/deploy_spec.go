// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"slices"
	"strconv"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/opt"
)

// DeploySpec is the declared plan that deploys the newest version; nil if it is
// generated.
func (v *versions) DeploySpec() *api.PlanSpec {
	if v.job == nil || len(v.job.Plans) == 0 {
		return nil
	}
	named := func(name string) *api.PlanSpec {
		i := slices.IndexFunc(v.job.Plans, func(p *api.PlanSpec) bool { return p.Name == name })
		if i < 0 {
			return nil
		}
		return v.withPhases(v.job.Plans[i])
	}
	if update := named(api.PlanUpdate); update != nil && v.WasDeployed() {
		return update
	}
	return named(api.PlanDeploy)
}

// isProven reports whether the version was deployed: with success, or without a
// deployment to tell.
func isProven(job *api.Job) bool {
	return job.Stable || !slices.ContainsFunc(job.Groups, func(g *api.Group) bool { return rolls(job, g) })
}

// withPhases returns the declared plan with a phase per group if it has none of
// its own: in the order of the job, and as many instances at a time as the group's
// update block says.
func (v *versions) withPhases(spec *api.PlanSpec) *api.PlanSpec {
	if len(spec.Phases) > 0 {
		return spec
	}
	filled := *spec
	for _, g := range v.job.Groups {
		ph := &api.PhaseSpec{Name: g.Name, Group: g.Name, Strategy: api.StrategySerial}
		switch u := g.Update; {
		case u == nil:
		case u.MaxParallelPercent != nil:
			ph.MaxParallel = strconv.Itoa(*u.MaxParallelPercent) + "%"
		case opt.Of(u.MaxParallel) > 0:
			ph.MaxParallel = strconv.Itoa(*u.MaxParallel)
		default:
			ph.Strategy = api.StrategyParallel // no deployment, and no limit
		}
		filled.Phases = append(filled.Phases, ph)
	}
	return &filled
}
