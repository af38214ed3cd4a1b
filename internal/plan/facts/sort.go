// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A sorter sorts a job's allocations into groups and instances, once.
type sorter struct {
	*Facts
	scratch *Scratch
	byName  map[string]*Group
}

// sort derives the groups of the job from its definition and its allocations.
func (s *sorter) sort() {
	if s.Job != nil {
		for _, def := range s.Job.Groups {
			g := s.add(&Group{Name: def.Name, Def: def, Rolling: rolls(s.Job, def)})
			s.fill(g)
		}
	}
	declared := len(s.Groups)
	var orphans []*api.Allocation
	for a := range s.R.AllocationsByJob(s.Key.Namespace, s.Key.ID) {
		switch {
		case a.Orphan:
			orphans = append(orphans, a)
		case !s.isPast(a):
			s.assign(s.groupNamed(a.Group), a)
		}
	}
	s.sortOrphans(orphans)
	slices.SortFunc(s.Groups[declared:], func(a, b *Group) int { return strings.Compare(a.Name, b.Name) })
	for _, g := range s.Groups {
		s.finish(g)
	}
}

func (s *sorter) add(g *Group) *Group {
	s.byName[g.Name] = g
	s.Groups = append(s.Groups, g)
	return g
}

// groupNamed returns the group of that name. It adds a group that has left the job.
func (s *sorter) groupNamed(name string) *Group {
	if g := s.byName[name]; g != nil {
		return g
	}
	return s.add(&Group{Name: name})
}

// finish decides which allocation holds each instance of the group, once all of
// them are known.
func (s *sorter) finish(g *Group) {
	for i, claims := range g.rivals {
		in := &g.Instances[i]
		claims = append(claims, in.Alloc)
		in.Alloc = nil
		s.resolveClaims(in, claims)
	}
	s.classify(g.Instances)
	s.dropAbandoned(g)
	s.stopOnClosedNodes(g)
	s.findCanaries(g)
	slices.SortFunc(g.Excess, func(a, b Departure) int {
		if d := b.Alloc.Index() - a.Alloc.Index(); d != 0 {
			return d
		}
		return strings.Compare(a.Alloc.ID, b.Alloc.ID)
	})
	for _, list := range [][]*api.Allocation{g.Behind, g.Going, g.Stopping} {
		slices.SortFunc(list, func(a, b *api.Allocation) int { return strings.Compare(a.ID, b.ID) })
	}
}

// classify numbers the instances, and sets their states.
func (s *sorter) classify(instances []Instance) {
	for i := range instances {
		in := &instances[i]
		s.Instances++
		in.Number = s.Instances
		if in.State = s.stateOf(in); in.State == Unknown {
			in.Away = s.AbsenceOf(in.Alloc)
		}
	}
}

// fill gives the group the instances that should run.
func (s *sorter) fill(g *Group) {
	switch size := max(g.Def.Size(), 0); {
	case !s.IsWanted() || size == 0:
	case s.Job.RunsOnEveryNode():
		s.fillNodes(g)
	default:
		g.Instances = s.scratch.InstancesFor(size)
		for i := range g.Instances {
			g.Instances[i] = Instance{Group: g, Index: i}
		}
	}
}

// assign puts the allocation where it belongs in its group.
func (s *sorter) assign(g *Group, a *api.Allocation) {
	if a.DeploymentID != "" && s.IsCurrent(a) && (s.Deployment == nil || s.Deployment.ID != a.DeploymentID) {
		s.Collected = true
	}
	if a.IsCanary() && !g.Everywhere {
		g.beside = append(g.beside, a)
		if a.IsServerTerminal() && !a.IsClientTerminal() && s.IsLostWithNode(a) {
			g.Stopping = append(g.Stopping, a)
		}
		return
	}
	index, inside := s.indexOf(g, a)
	if a.IsServerTerminal() {
		if inside && newer(a, g.Instances[index].Last) {
			g.Instances[index].Last = a
		}
		switch {
		case a.IsClientTerminal():
			if a.DesiredReason == api.ReasonPurged && s.Uninstalls() {
				g.Gone = append(g.Gone, a)
			}
			if a.DesiredReason == api.ReasonMigrated {
				s.Node(a) // for drains
			}
		case s.IsLostWithNode(a):
			g.Stopping = append(g.Stopping, a)
		case !inside:
			g.Going = append(g.Going, a)
		}
		return
	}
	if !inside {
		g.addExcess(a, 0)
		return
	}
	in := &g.Instances[index]
	if in.Alloc == nil {
		in.Alloc = a
		return
	}
	if g.rivals == nil {
		g.rivals = make(map[int][]*api.Allocation)
	}
	g.rivals[index] = append(g.rivals[index], a)
}

// indexOf finds which of the group's instances the allocation is or was made for.
func (s *sorter) indexOf(g *Group, a *api.Allocation) (index int, inside bool) {
	if g.Everywhere {
		return s.placeOn(g, a)
	}
	index = a.Index()
	return index, index >= 0 && index < len(g.Instances)
}

func (s *sorter) stateOf(in *Instance) State {
	a := in.Alloc
	if a == nil {
		return Vacant
	}
	switch a.ClientStatus {
	case api.AllocClientFailed:
		return Failed
	case api.AllocClientComplete:
		return Ended
	case api.AllocClientLost:
		return Lost
	}
	open := in.Node != "" && !in.Closed // then its node is there
	switch {
	case !open && s.IsLostWithNode(a):
		return Lost
	case a.DesiredTransition.ShouldMigrate():
		return Moving
	case a.ClientStatus == api.AllocClientUnknown, !open && s.IsUnreachable(a):
		return Unknown
	case a.ClientStatus == api.AllocClientRunning:
		return Running
	}
	return Placed
}
