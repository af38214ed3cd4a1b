// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A sorter sorts a job's allocations into groups and instances, once.
type sorter struct {
	*facts
	scratch *factsScratch
	byName  map[string]*group
}

// sort derives the groups of the job from its definition and its allocations.
func (s *sorter) sort() {
	if s.job != nil {
		for _, def := range s.job.Groups {
			g := s.add(&group{name: def.Name, def: def, rolling: rolls(s.job, def)})
			s.fill(g)
		}
	}
	declared := len(s.groups)
	var orphans []*api.Allocation
	for a := range s.r.AllocationsByJob(s.key.Namespace, s.key.ID) {
		switch {
		case a.Orphan:
			orphans = append(orphans, a)
		case !s.isPast(a):
			s.assign(s.groupNamed(a.Group), a)
		}
	}
	s.sortOrphans(orphans)
	slices.SortFunc(s.groups[declared:], func(a, b *group) int { return strings.Compare(a.name, b.name) })
	for _, g := range s.groups {
		s.finish(g)
	}
}

func (s *sorter) add(g *group) *group {
	s.byName[g.name] = g
	s.groups = append(s.groups, g)
	return g
}

// groupNamed returns the group of that name. It adds a group that has left the job.
func (s *sorter) groupNamed(name string) *group {
	if g := s.byName[name]; g != nil {
		return g
	}
	return s.add(&group{name: name})
}

// finish decides which allocation holds each instance of the group, once all of
// them are known.
func (s *sorter) finish(g *group) {
	for i, claims := range g.rivals {
		in := &g.instances[i]
		claims = append(claims, in.alloc)
		in.alloc = nil
		s.resolveClaims(in, claims)
	}
	s.classify(g.instances)
	s.dropAbandoned(g)
	s.stopOnClosedNodes(g)
	s.findCanaries(g)
	slices.SortFunc(g.excess, func(a, b departure) int {
		if d := b.alloc.Index() - a.alloc.Index(); d != 0 {
			return d
		}
		return strings.Compare(a.alloc.ID, b.alloc.ID)
	})
	for _, list := range [][]*api.Allocation{g.behind, g.going, g.stopping} {
		slices.SortFunc(list, func(a, b *api.Allocation) int { return strings.Compare(a.ID, b.ID) })
	}
}

// classify numbers the instances, and sets their states.
func (s *sorter) classify(instances []instance) {
	for i := range instances {
		in := &instances[i]
		s.instances++
		in.number = s.instances
		if in.state = s.stateOf(in); in.state == unknown {
			in.away = s.absenceOf(in.alloc)
		}
	}
}

// fill gives the group the instances that should run.
func (s *sorter) fill(g *group) {
	switch size := max(g.def.Size(), 0); {
	case !s.wanted() || size == 0:
	case s.job.RunsOnEveryNode():
		s.fillNodes(g)
	default:
		g.instances = s.scratch.instancesFor(size)
		for i := range g.instances {
			g.instances[i] = instance{group: g, index: i}
		}
	}
}

// assign puts the allocation where it belongs in its group.
func (s *sorter) assign(g *group, a *api.Allocation) {
	if a.DeploymentID != "" && s.isCurrent(a) && (s.deployment == nil || s.deployment.ID != a.DeploymentID) {
		s.collected = true
	}
	if a.IsCanary() && !g.everywhere {
		g.beside = append(g.beside, a)
		if a.IsServerTerminal() && !a.IsClientTerminal() && s.isLostWithNode(a) {
			g.stopping = append(g.stopping, a)
		}
		return
	}
	index, inside := s.indexOf(g, a)
	if a.IsServerTerminal() {
		if inside && newer(a, g.instances[index].last) {
			g.instances[index].last = a
		}
		switch {
		case a.IsClientTerminal():
			if a.DesiredReason == api.ReasonPurged && s.uninstalls() {
				g.gone = append(g.gone, a)
			}
			if a.DesiredReason == api.ReasonMigrated {
				s.node(a) // for drains
			}
		case s.isLostWithNode(a):
			g.stopping = append(g.stopping, a)
		case !inside:
			g.going = append(g.going, a)
		}
		return
	}
	if !inside {
		g.addExcess(a, 0)
		return
	}
	in := &g.instances[index]
	if in.alloc == nil {
		in.alloc = a
		return
	}
	if g.rivals == nil {
		g.rivals = make(map[int][]*api.Allocation)
	}
	g.rivals[index] = append(g.rivals[index], a)
}

// indexOf finds which of the group's instances the allocation is or was made for.
func (s *sorter) indexOf(g *group, a *api.Allocation) (index int, inside bool) {
	if g.everywhere {
		return s.placeOn(g, a)
	}
	index = a.Index()
	return index, index >= 0 && index < len(g.instances)
}

func (s *sorter) stateOf(in *instance) state {
	a := in.alloc
	if a == nil {
		return vacant
	}
	switch a.ClientStatus {
	case api.AllocClientFailed:
		return failed
	case api.AllocClientComplete:
		return ended
	case api.AllocClientLost:
		return lost
	}
	open := in.node != "" && !in.closed // then its node is there
	switch {
	case !open && s.isLostWithNode(a):
		return lost
	case a.DesiredTransition.ShouldMigrate():
		return moving
	case a.ClientStatus == api.AllocClientUnknown, !open && s.isUnreachable(a):
		return unknown
	case a.ClientStatus == api.AllocClientRunning:
		return running
	}
	return placed
}
