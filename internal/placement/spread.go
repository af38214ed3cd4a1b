// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A spread is a wish for shares of instances by an attribute's value.
type spread struct {
	target target
	weight float64 // share of all spreads' weights, 0..1
	wanted map[string]float64
	rest   float64 // for every value that wanted does not name; <0: none of them
}

// spreadsOf lists the group's spreads, then the job's. A service without any is
// spread evenly over the cluster's zones, if it has some.
func spreadsOf(job *api.Job, group *api.Group, policy Policy) []*api.Spread {
	spreads := slices.Concat(group.Spreads, job.Spreads)
	if len(spreads) == 0 && policy.ZoneAttribute != "" && job.Type == api.JobTypeService {
		spreads = append(spreads, &api.Spread{Attribute: policy.ZoneAttribute})
	}
	return spreads
}

func (r *rules) spread(spreads []*api.Spread) {
	total := 0.0
	for _, s := range spreads {
		total += spreadWeight(s)
	}
	for _, s := range spreads {
		if spreadWeight(s) == 0 {
			continue
		}
		sp := spread{target: newTarget(s.Attribute), weight: spreadWeight(s) / total}
		sp.aim(s.Targets, float64(r.group.Size()))
		r.spreads = append(r.spreads, sp)
	}
}

func spreadWeight(s *api.Spread) float64 {
	if s.Weight == nil {
		return 50
	}
	return max(float64(*s.Weight), 0)
}

// aim turns percentages into numbers of instances.
func (s *spread) aim(targets []*api.SpreadTarget, count float64) {
	if len(targets) == 0 {
		return
	}
	s.wanted = make(map[string]float64, len(targets))
	left := 100.0
	for _, t := range targets {
		s.wanted[t.Value] = count * float64(t.Percent) / 100
		left -= float64(t.Percent)
	}
	s.rest = -1
	if left > 0 {
		s.rest = count * left / 100
	}
}

// score says how welcome one more instance is where value already has have and
// the least of all values has least: from -weight to weight. It is strong on
// purpose: a spread outweighs how well nodes are packed.
func (s *spread) score(value string, have, least int) float64 {
	if s.wanted == nil {
		if have <= least {
			return s.weight
		}
		return -s.weight
	}
	want, named := s.wanted[value]
	if !named {
		want = s.rest
	}
	if want <= 0 || float64(have) >= want {
		return -s.weight
	}
	return s.weight * (0.5 + 0.5*(want-float64(have))/want)
}
