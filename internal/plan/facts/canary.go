// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/opt"
)

// canaryCount is how many canaries the group has until they are promoted.
func (s *sorter) canaryCount(g *Group) int {
	switch d := s.Deployment; {
	case !g.Rolling || !s.IsWanted() || opt.Of(g.Def.Update.Canary) <= 0 || len(g.Instances) == 0:
		return 0
	case !s.DeploysCurrent(d):
		return s.canariesNeeded(g)
	case !d.IsActive() || d.Groups[g.Name] == nil || d.Groups[g.Name].Promoted:
		return 0
	default:
		return d.Groups[g.Name].DesiredCanaries
	}
}

// canariesNeeded is how many canaries a deployment of the newest version has to
// begin with.
func (s *sorter) canariesNeeded(g *Group) int {
	old := false
	for i := range g.Instances {
		switch in := &g.Instances[i]; {
		case in.Alloc == nil || !in.isProved() || !s.Knows(in.Alloc):
		case s.IsOutdated(g, in.Alloc):
			old = true
		default:
			return 0 // what the newest version says has been promoted before
		}
	}
	if !old || s.Reverts() {
		return 0
	}
	n := *g.Def.Update.Canary
	if g.Everywhere {
		return share(n, g.open)
	}
	return min(n, len(g.Instances))
}

// share is a percentage of so many, rounded up.
func share(percent, of int) int { return (min(percent, 100)*of + 99) / 100 }

// isProved reports whether the instance serves, or would if its node did.
func (i *Instance) isProved() bool {
	switch i.State {
	case Unknown, Lost, Moving:
		return !i.Alloc.IsUnhealthy()
	}
	return i.Serves()
}

// findCanaries gives the group its canaries, once its other instances are known.
func (s *sorter) findCanaries(g *Group) {
	n := s.canaryCount(g)
	g.Unpromoted = n > 0
	if g.Everywhere {
		s.chooseNodes(g, n)
		g.Unpromoted = g.Unpromoted && (s.DeploysCurrent(s.Deployment) || g.CountCanaries() > 0)
		return
	}
	if n > 0 {
		g.Canaries = make([]Instance, n)
	}
	for i := range g.Canaries {
		g.Canaries[i] = Instance{Group: g, Index: i, Canary: true}
	}
	var claims map[int][]*api.Allocation
	for _, a := range g.beside {
		switch i := a.Index(); {
		case i < 0 || i >= n || s.IsOutdated(g, a):
			if !a.IsServerTerminal() { // also one that has ended: nobody comes after it
				g.Excess = append(g.Excess, Departure{g, a, s.whyUnwanted(g)})
			}
		case !a.IsServerTerminal():
			note(&claims, i, append(claims[i], a))
		case a.DeploymentID == s.Deployment.ID && newer(a, g.Canaries[i].Last):
			g.Canaries[i].Last = a
		}
	}
	for i, all := range claims {
		if in := &g.Canaries[i]; len(all) == 1 {
			in.Alloc = all[0]
		} else {
			s.resolveClaims(in, all)
		}
	}
	s.classify(g.Canaries)
}

// whyUnwanted is why a canary is stopped; 0 if that follows from elsewhere.
func (s *sorter) whyUnwanted(g *Group) api.Reason {
	if g.Def == nil || !s.IsWanted() {
		return 0
	}
	return api.ReasonUnpromoted
}

// chooseNodes marks the instances of a job that runs on every node that are its
// canaries: those that were made so, then others of an older version in the order of
// their nodes. Whether an instance runs does not matter: its state changes while it
// is recovered, and the choice must not.
func (s *sorter) chooseNodes(g *Group, n int) {
	for i := range g.Instances {
		if in := &g.Instances[i]; n > 0 && s.isBegun(in) {
			in.Canary = true
			n--
		}
	}
	for i := range g.Instances {
		if in := &g.Instances[i]; n > 0 && !in.Canary && !in.Closed && s.isOfOlderVersion(in) {
			in.Canary = true
			n--
		}
	}
}

// isOfOlderVersion reports whether an older version holds the instance, or held it
// before it lost its allocation.
func (s *sorter) isOfOlderVersion(in *Instance) bool {
	if in.Alloc != nil {
		return s.IsOutdated(in.Group, in.Alloc)
	}
	return s.IsMissed(in) && s.IsOutdated(in.Group, in.Last)
}

// isBegun reports whether the place of an older version was taken by, or made
// free for, a canary of the newest one.
func (s *sorter) isBegun(in *Instance) bool {
	switch {
	case in.Alloc != nil:
		return in.Alloc.IsCanary() && s.IsCurrent(in.Alloc)
	case in.Last == nil:
		return false
	}
	return in.Last.IsCanary() && s.IsCurrent(in.Last) || s.IsMissed(in) && in.Last.DesiredReason == api.ReasonUpdated
}

// CountCanaries is how many canaries the group has.
func (g *Group) CountCanaries() (n int) {
	for in := range g.Every {
		if in.Canary {
			n++
		}
	}
	return n
}
