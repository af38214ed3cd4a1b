// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"math"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A spread holds the intended shares of instances by the value of an attribute.
type spread struct {
	target target
	weight float64 // share of all spreads' weights, 0..1
	wanted map[string]float64
	rest   float64 // instances for each value that wanted does not name; <0: none
}

// spreadsOf lists the group's spreads, followed by the job's. A service without any is
// spread evenly over the cluster's zones, if a zone attribute is set.
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

// aim converts percentages into numbers of instances.
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

// want returns the intended number of instances of the value. Without targets, all values
// have the same proportion. 0 means none if avoidable.
func (s *spread) want(value string) float64 {
	if s.wanted == nil {
		return 1
	}
	if want, named := s.wanted[value]; named {
		return want
	}
	return max(s.rest, 0)
}

// load returns the filled share of a value that should have want instances, counting half
// of one more instance. The value with the lowest load gets the next instance (Webster's
// method), so that the shares hold after every placement.
func load(have int, want float64) float64 {
	if want <= 0 {
		return math.Inf(1)
	}
	return (float64(have) + 0.5) / want
}

// strength makes a spread outweigh all other terms of a node's score (utilization 1,
// instances of the group 3, affinities 2, devices 2). With less, a zone with few nodes
// would never get its share.
const strength = 5

// score returns the score of one more instance on a value with the given load, where least
// is the lowest load of all values.
func (s *spread) score(load, least float64) float64 {
	if load <= least {
		return strength * s.weight
	}
	return -strength * s.weight
}
