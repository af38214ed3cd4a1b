// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"github.com/reeve-run/reeve/api"
)

// sortOrphans puts in their groups those orphans that the job takes over, and
// those that are to stop. All others are none of its business for now: they go
// on, and the job has its instances beside them.
//
//   - An orphan that runs what the job says, at a place of the job that nothing
//     else holds, is taken over: the deploy plan gives it the job's version in
//     place.
//   - All others stop in a fresh domain: those that differ step by step, as older
//     versions do, those without a place at once.
//   - In a stale domain they stop only because somebody says so: of them, or of
//     the job.
func (s *sorter) sortOrphans(orphans []*api.Allocation) {
	for _, a := range orphans {
		g := s.byName[a.Group]
		switch {
		case a.IsClientTerminal():
			continue
		case a.IsServerTerminal(), s.mayStop(a), g != nil && s.takesOver(g, a):
		default:
			s.Left = append(s.Left, a)
			continue
		}
		s.assign(s.groupNamed(a.Group), a)
	}
}

// mayStop reports whether an orphan may be stopped although nobody knows whether
// it is wanted.
func (s *sorter) mayStop(a *api.Allocation) bool {
	if a.DesiredTransition.ShouldMigrate() || s.Job != nil && s.Job.Stop {
		return true
	}
	return IsFresh(s.R, s.Job, a, s.Now)
}

// takesOver reports whether the orphan is what the job wants at a place that it
// has nothing else for.
func (s *sorter) takesOver(g *Group, a *api.Allocation) bool {
	if !s.IsWanted() || g.Def == nil || a.Job == nil || a.Job.Type != s.Job.Type {
		return false
	}
	index, inside := s.indexOf(g, a)
	return inside && g.Instances[index].Alloc == nil && !s.IsDestructive(g, a)
}
