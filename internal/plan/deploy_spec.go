// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// deploySpec is the declared plan that deploys the newest version; nil if it is
// generated.
func (s *versions) deploySpec() *api.PlanSpec {
	if s.job == nil || len(s.job.Plans) == 0 {
		return nil
	}
	named := func(name string) *api.PlanSpec {
		i := slices.IndexFunc(s.job.Plans, func(p *api.PlanSpec) bool { return p.Name == name })
		if i < 0 {
			return nil
		}
		return s.withPhases(s.job.Plans[i])
	}
	if update := named(api.PlanUpdate); update != nil && s.wasDeployed() {
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
func (s *versions) withPhases(spec *api.PlanSpec) *api.PlanSpec {
	if len(spec.Phases) > 0 {
		return spec
	}
	filled := *spec
	for _, g := range s.job.Groups {
		ph := &api.PhaseSpec{Name: g.Name, Group: g.Name, Strategy: api.StrategySerial}
		switch u := g.Update; {
		case u == nil:
		case u.MaxParallelPercent != nil:
			ph.MaxParallel = strconv.Itoa(*u.MaxParallelPercent) + "%"
		case of(u.MaxParallel) > 0:
			ph.MaxParallel = strconv.Itoa(*u.MaxParallel)
		default:
			ph.Strategy = api.StrategyParallel // no deployment, and no limit
		}
		filled.Phases = append(filled.Phases, ph)
	}
	return &filled
}

// OrderHint says how to have the first deployment of the job in order, where it
// looks as if that were wanted: it has several groups, keeps data with its
// instances, or orders another of its plans. "" where there is nothing to say.
func OrderHint(r Reader, job *api.Job) string {
	s := &versions{r: r, key: job.Key(), job: job}
	if !s.wanted() || job.RunsToCompletion() || s.deploySpec() != nil || s.wasDeployed() {
		return ""
	}
	var why []string
	groups, instances := 0, 0
	for _, g := range job.Groups {
		if g.Size() <= 0 {
			continue
		}
		groups++
		instances += g.Size()
		if keepsData(g) && g.Size() > 1 {
			why = append(why, fmt.Sprintf("group %q keeps data with its instances", g.Name))
		}
	}
	if groups > 1 {
		why = append([]string{fmt.Sprintf("it has %d groups", groups)}, why...)
	}
	for _, p := range job.Plans {
		if p.Strategy == api.StrategyDependency {
			why = append(why, fmt.Sprintf("its plan %q says what comes after what", p.Name))
		}
	}
	if len(why) == 0 {
		return ""
	}
	all := fmt.Sprintf("all %d instances", instances)
	if job.RunsOnEveryNode() {
		all = "all instances"
	}
	return fmt.Sprintf("the first deployment starts %s at once, whatever \"update\" says. To start them in order (%s), add: plan \"deploy\" { strategy = \"serial\" }",
		all, strings.Join(why, "; "))
}

// keepsData reports whether instances of the group have data that is their own.
func keepsData(g *api.Group) bool {
	return g.EphemeralDisk != nil && of(g.EphemeralDisk.Sticky) || g.Recovery != nil || len(g.Volumes) > 0
}
