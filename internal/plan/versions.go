// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
)

// versions compares versions of a job with its newest one. It remembers its
// answers, because most allocations of a job share a version.
type versions struct {
	r        Reader
	key      api.NamespacedID
	job      *api.Job                          // newest version; nil: purged
	changes  map[change]bool                   // memory of differs
	proofs   map[change]bool                   // memory of proves
	moves    map[change]*placement.Suitability // memory of stillSuits
	replaced map[*group]bool                   // memory of replacesDeployed
	same     *bool                             // memory of reverts
	deployed *bool                             // memory of wasDeployed
}

// wanted reports whether anything of the job should run.
func (s *versions) wanted() bool {
	return isWanted(s.job)
}

// isWanted reports whether anything of the job should run.
func isWanted(job *api.Job) bool {
	return job != nil && !job.Stop && !job.IsPeriodic() && !job.IsParameterized()
}

// rolls reports whether instances of the group are moved to a new version step
// by step, under a deployment.
func rolls(job *api.Job, g *api.Group) bool {
	u := g.Update
	return !job.RunsToCompletion() && u != nil && (of(u.MaxParallel) > 0 || u.MaxParallelPercent != nil)
}

// isCurrent reports whether the allocation has the job's newest version.
func (s *versions) isCurrent(a *api.Allocation) bool {
	return a.Job == s.job || s.job != nil && a.Job != nil &&
		a.Job.Version == s.job.Version && a.Job.CreateIndex == s.job.CreateIndex
}

// A change is from one version of a group to the newest one.
type change struct {
	from  *api.Job
	group string
}

// note puts something into a memory that is made when it is needed.
func note[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[key] = value
}

// destructive reports whether the allocation must be replaced to have the
// newest version. A change of where it may run counts only if its node is not
// fit any more.
func (s *versions) destructive(g *group, a *api.Allocation) bool {
	return s.differs(g, a) || !s.stillSuits(g, a)
}

// differs reports whether what the allocation runs is not what the newest
// version says.
func (s *versions) differs(g *group, a *api.Allocation) bool {
	if !s.knows(a) && !a.Orphan {
		return true
	}
	if a.Job == g.from { // like the one before it, as most are
		return g.differs
	}
	c := change{a.Job, g.name}
	replace, known := s.changes[c]
	if !known {
		old := a.Job.Group(g.name)
		replace = old == nil || Destructive(a.Job, old, s.job, g.def)
		note(&s.changes, c, replace)
	}
	g.from, g.differs = a.Job, replace
	return replace
}

// knows reports whether the allocation's job is the one that is stored: the job
// was not removed and registered again since.
func (s *versions) knows(a *api.Allocation) bool {
	return isOf(s.job, a)
}

// isOf reports whether the allocation belongs to the registration of the job that
// is stored.
func isOf(job *api.Job, a *api.Allocation) bool {
	return a.Job != nil && a.Job.CreateIndex == job.CreateIndex
}

// isPast reports whether the allocation ended with what the job was before it was
// removed and registered again: what comes now does not take its place, and has
// neither its failures nor its data.
func (s *versions) isPast(a *api.Allocation) bool {
	return s.job != nil && a.IsClientTerminal() && a.Job != nil && a.Job.CreateIndex != s.job.CreateIndex && a.Job.CreateIndex != 0
}

// stillSuits reports whether the allocation may stay on its node under the
// newest version.
func (s *versions) stillSuits(g *group, a *api.Allocation) bool {
	m, known := s.moves[change{a.Job, g.name}]
	if !known {
		if old := a.Job.Group(g.name); old != nil && movesAbout(a.Job, old, s.job, g.def) {
			m = placement.NewSuitability(s.job, g.def)
		}
		note(&s.moves, change{a.Job, g.name}, m)
	}
	if m == nil {
		return true
	}
	n := s.r.Node(a.NodeID)
	if n == nil {
		return true // it is lost, and that is another matter
	}
	_, ok := m.Of(n)
	return ok
}

// proves reports whether the allocation has to be found healthy again, by what the
// newest version asks of it, when it is given that in place.
func (s *versions) proves(g *group, a *api.Allocation) bool {
	if !g.rolling || a.Job == nil || s.isCurrent(a) || of(g.def.Update.HealthCheck) == api.HealthCheckTaskStates {
		return false
	}
	c := change{a.Job, g.name}
	proves, known := s.proofs[c]
	if !known {
		old := a.Job.Group(g.name)
		proves = old != nil && asksMore(old, g.def)
		note(&s.proofs, c, proves)
	}
	return proves
}

// outdated reports whether the deploy plan would replace the allocation.
func (s *versions) outdated(g *group, a *api.Allocation) bool {
	return !s.isCurrent(a) && s.destructive(g, a)
}

// wasDeployed reports whether an older version of the job was deployed.
func (s *versions) wasDeployed() bool {
	if s.deployed == nil {
		s.deployed = new(s.hasDeployed())
	}
	return *s.deployed
}

func (s *versions) hasDeployed() bool {
	if s.job.Version == 0 {
		return false
	}
	for _, old := range s.r.JobVersions(s.key.Namespace, s.key.ID) {
		if old.CreateIndex != s.job.CreateIndex || old.Version >= s.job.Version || old.Stop {
			continue
		}
		if isProven(old) {
			return true
		}
	}
	return false
}

// reverts reports whether the newest version says what an older one said that
// has proved itself.
func (s *versions) reverts() bool {
	if s.same == nil {
		s.same = new(s.isSameAsOlder())
	}
	return *s.same
}

func (s *versions) isSameAsOlder() bool {
	for _, v := range s.r.JobVersions(s.key.Namespace, s.key.ID) {
		if v.Stable && v.Version < s.job.Version && v.CreateIndex == s.job.CreateIndex && api.SpecEqual(v, s.job) {
			return true
		}
	}
	return false
}

// outdatedVersions are the versions before the newest, back to the one that was
// deployed last.
func (s *versions) outdatedVersions() (all []*api.Job) {
	for _, old := range s.r.JobVersions(s.key.Namespace, s.key.ID) {
		if old.CreateIndex != s.job.CreateIndex || old.Version >= s.job.Version || old.Stop {
			continue
		}
		all = append(all, old)
		if isProven(old) {
			break
		}
	}
	return all
}

// uninstalls reports whether the job is to be forgotten as soon as nothing of
// it runs any more.
func (s *versions) uninstalls() bool { return s.job != nil && s.job.Stop && s.job.Purge }

// replacesDeployed reports whether the newest version replaces what was deployed of
// the group: instances of a version since the last one that was deployed would have
// to be stopped.
func (s *versions) replacesDeployed(g *group) bool {
	if !s.wasDeployed() {
		return false
	}
	replaces, known := s.replaced[g]
	if !known {
		replaces = slices.ContainsFunc(s.outdatedVersions(), func(old *api.Job) bool {
			was := old.Group(g.name)
			return was != nil && (Destructive(old, was, s.job, g.def) || movesAbout(old, was, s.job, g.def))
		})
		note(&s.replaced, g, replaces)
	}
	return replaces
}

// changesChecks reports whether the newest version changes in place the checks of
// the group that was deployed.
func (s *versions) changesChecks(g *group) bool {
	if !s.wasDeployed() || of(g.def.Update.HealthCheck) == api.HealthCheckTaskStates {
		return false
	}
	return slices.ContainsFunc(s.outdatedVersions(), func(old *api.Job) bool {
		was := old.Group(g.name)
		return was != nil && asksMore(was, g.def)
	})
}
