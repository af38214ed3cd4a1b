// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan/opt"
	"github.com/reeve-run/reeve/internal/plan/update"
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
	replaced map[*Group]bool                   // memory of replacesDeployed
	same     *bool                             // memory of reverts
	deployed *bool                             // memory of wasDeployed
}

// IsWanted reports whether anything of the job should run.
func (v *versions) IsWanted() bool {
	return isWanted(v.job)
}

// isWanted reports whether anything of the job should run.
func isWanted(job *api.Job) bool {
	return job != nil && !job.Stop && !job.IsPeriodic() && !job.IsParameterized()
}

// rolls reports whether instances of the group are moved to a new version step
// by step, under a deployment.
func rolls(job *api.Job, g *api.Group) bool {
	u := g.Update
	return !job.RunsToCompletion() && u != nil && (opt.Of(u.MaxParallel) > 0 || u.MaxParallelPercent != nil)
}

// IsCurrent reports whether the allocation has the job's newest version.
func (v *versions) IsCurrent(a *api.Allocation) bool {
	return a.Job == v.job || v.job != nil && a.Job != nil &&
		a.Job.Version == v.job.Version && a.Job.CreateIndex == v.job.CreateIndex
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

// IsDestructive reports whether the allocation must be replaced to have the newest
// version. A change of constraints counts only if its node no longer qualifies.
func (v *versions) IsDestructive(g *Group, a *api.Allocation) bool {
	return v.differs(g, a) || !v.stillSuits(g, a)
}

// differs reports whether what the allocation runs is not what the newest
// version says.
func (v *versions) differs(g *Group, a *api.Allocation) bool {
	if !v.Knows(a) && !a.Orphan {
		return true
	}
	if a.Job == g.from { // like the one before it, as most are
		return g.differs
	}
	c := change{a.Job, g.Name}
	replace, known := v.changes[c]
	if !known {
		old := a.Job.Group(g.Name)
		replace = old == nil || update.Destructive(a.Job, old, v.job, g.Def)
		note(&v.changes, c, replace)
	}
	g.from, g.differs = a.Job, replace
	return replace
}

// Knows reports whether the allocation's job is the one that is stored: the job
// was not removed and registered again since.
func (v *versions) Knows(a *api.Allocation) bool {
	return isOf(v.job, a)
}

// isOf reports whether the allocation belongs to the registration of the job that
// is stored.
func isOf(job *api.Job, a *api.Allocation) bool {
	return a.Job != nil && a.Job.CreateIndex == job.CreateIndex
}

// isPast reports whether the allocation ended with what the job was before it was
// removed and registered again: what comes now does not take its place, and has
// neither its failures nor its data.
func (v *versions) isPast(a *api.Allocation) bool {
	return v.job != nil && a.IsClientTerminal() && a.Job != nil && a.Job.CreateIndex != v.job.CreateIndex && a.Job.CreateIndex != 0
}

// stillSuits reports whether the allocation may stay on its node under the
// newest version.
func (v *versions) stillSuits(g *Group, a *api.Allocation) bool {
	m, known := v.moves[change{a.Job, g.Name}]
	if !known {
		if old := a.Job.Group(g.Name); old != nil && update.MovesAbout(a.Job, old, v.job, g.Def) {
			m = placement.NewSuitability(v.job, g.Def)
		}
		note(&v.moves, change{a.Job, g.Name}, m)
	}
	if m == nil {
		return true
	}
	n := v.r.Node(a.NodeID)
	if n == nil {
		return true // it is lost, and that is another matter
	}
	_, ok := m.Of(n)
	return ok
}

// NeedsProof reports whether the allocation has to be found healthy again, by what the
// newest version asks of it, when it is given that in place.
func (v *versions) NeedsProof(g *Group, a *api.Allocation) bool {
	if !g.Rolling || a.Job == nil || v.IsCurrent(a) || opt.Of(g.Def.Update.HealthCheck) == api.HealthCheckTaskStates {
		return false
	}
	c := change{a.Job, g.Name}
	proves, known := v.proofs[c]
	if !known {
		old := a.Job.Group(g.Name)
		proves = old != nil && update.AsksMore(old, g.Def)
		note(&v.proofs, c, proves)
	}
	return proves
}

// IsOutdated reports whether the deploy plan would replace the allocation.
func (v *versions) IsOutdated(g *Group, a *api.Allocation) bool {
	return !v.IsCurrent(a) && v.IsDestructive(g, a)
}

// WasDeployed reports whether an older version of the job was deployed.
func (v *versions) WasDeployed() bool {
	if v.deployed == nil {
		v.deployed = new(v.hasDeployed())
	}
	return *v.deployed
}

func (v *versions) hasDeployed() bool {
	if v.job.Version == 0 {
		return false
	}
	for _, old := range v.r.JobVersions(v.key.Namespace, v.key.ID) {
		if old.CreateIndex != v.job.CreateIndex || old.Version >= v.job.Version || old.Stop {
			continue
		}
		if isProven(old) {
			return true
		}
	}
	return false
}

// Reverts reports whether the newest version says what an older one said that
// has proved itself.
func (v *versions) Reverts() bool {
	if v.same == nil {
		v.same = new(v.isSameAsOlder())
	}
	return *v.same
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
func (v *versions) outdatedVersions() (all []*api.Job) {
	for _, old := range v.r.JobVersions(v.key.Namespace, v.key.ID) {
		if old.CreateIndex != v.job.CreateIndex || old.Version >= v.job.Version || old.Stop {
			continue
		}
		all = append(all, old)
		if isProven(old) {
			break
		}
	}
	return all
}

// Uninstalls reports whether the job is removed as soon as all its allocations have
// ended.
func (v *versions) Uninstalls() bool { return v.job != nil && v.job.Stop && v.job.Purge }

// ReplacesDeployed reports whether the newest version replaces deployed instances of
// the group: a version since the last deployed one differs destructively.
func (v *versions) ReplacesDeployed(g *Group) bool {
	if !v.WasDeployed() {
		return false
	}
	replaces, known := v.replaced[g]
	if !known {
		replaces = slices.ContainsFunc(v.outdatedVersions(), func(old *api.Job) bool {
			was := old.Group(g.Name)
			return was != nil && (update.Destructive(old, was, v.job, g.Def) || update.MovesAbout(old, was, v.job, g.Def))
		})
		note(&v.replaced, g, replaces)
	}
	return replaces
}

// ChangesChecks reports whether the newest version changes in place the checks of
// the group that was deployed.
func (v *versions) ChangesChecks(g *Group) bool {
	if !v.WasDeployed() || opt.Of(g.Def.Update.HealthCheck) == api.HealthCheckTaskStates {
		return false
	}
	return slices.ContainsFunc(v.outdatedVersions(), func(old *api.Job) bool {
		was := old.Group(g.Name)
		return was != nil && update.AsksMore(was, g.Def)
	})
}
