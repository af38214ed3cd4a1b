// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/launch"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// Rollout holds what later plans must respect of the plan deploy.
type Rollout struct {
	*facts.Facts
	Stands  progress                // of the newest version's deployment
	spec    *api.PlanSpec           // that declares how it is deployed; nil: the plan is generated
	stages  map[string]*groupStages // of a declared plan, by group
	rulings *decision.Rulings       // of operators on the plan
	HeldBy  *api.Decision           // interrupted the plan before its deployment existed; nil: none did
}

// hasEnded reports whether the deployment of the newest version has ended.
func (r *Rollout) hasEnded() bool { return r.Stands == succeeded || r.Stands == given }

// IsUnderWay reports whether the newest version is being deployed, or is about to be.
func (r *Rollout) IsUnderWay() bool { return r.Stands == Ongoing || r.Stands == Needed }

// isLeftOut reports whether the plan that the job declares does nothing on the
// instance.
func (r *Rollout) isLeftOut(in *facts.Instance) bool {
	c := r.stages[in.Group.Name]
	return c != nil && len(c.of(in.Index)) == 0
}

// follows reports whether the plan lets the second stage of an instance begin
// only when the first is complete.
func (r *Rollout) follows(in *facts.Instance, first, second stage) bool {
	switch {
	case first.phase == second.phase && first.phase.Strategy != api.StrategyDependency:
		return true
	case first.phase == second.phase:
		return slices.ContainsFunc(second.spec.After, func(name string) bool {
			return name == first.spec.Name || name == api.StepName(in.Group.Name, in.Index, first.tasks)
		})
	case r.spec.Strategy == api.StrategyDependency:
		return slices.Contains(second.phase.After, first.phase.Name)
	}
	return r.spec.Strategy != api.StrategyParallel
}

// stageLaunches says of each task of the instance what the stage wants of it:
// its own run, those of later stages do not run yet, and the allocation does
// not count as healthy without them. inside reports whether the allocation that holds
// the instance runs them: then tasks that run already are not mentioned. Otherwise the
// launches are those of a new allocation.
func (r *Rollout) stageLaunches(in *facts.Instance, c stages, k int, inside bool) map[string]*api.Launch {
	wanted := make(map[string]*api.Launch)
	for _, t := range in.Group.Def.Tasks {
		at := slices.IndexFunc(c, func(sg stage) bool { return slices.Contains(sg.tasks, t.Name) })
		switch {
		case at == k && inside:
			wanted[t.Name] = &api.Launch{Token: launch.DeployToken}
		case at == k:
		case at >= 0 && r.isForced(in, c[at]):
			if !inside || !launch.IsLaunched(in.Alloc, []string{t.Name}) {
				wanted[t.Name] = &api.Launch{} // nobody waits for it any more
			}
		case inside:
		case at >= 0:
			wanted[t.Name] = &api.Launch{Await: true}
		default:
			wanted[t.Name] = &api.Launch{}
		}
	}
	return wanted
}

// isInside reports whether steps of the instance launch tasks in the allocation that
// holds it.
func (r *Rollout) isInside(in *facts.Instance) bool {
	return in.Alloc != nil && (in.State == facts.Placed || in.State == facts.Running || in.State == facts.Unknown) && !r.IsOutdated(in.Group, in.Alloc)
}

// FirstStage returns the launches of the tasks with which a new attempt of an instance
// begins: those of the first stage that is not permanently complete.
func (r *Rollout) FirstStage(in *facts.Instance, first map[string]*api.Launch) map[string]*api.Launch {
	if r.spec == nil || r.stages[in.Group.Name] == nil {
		return nil
	}
	c := r.stages[in.Group.Name].of(in.Index)
	for k := range c {
		if slices.ContainsFunc(c[k].tasks, func(name string) bool { return first[name] == nil || !first[name].Done }) && !r.isForced(in, c[k]) {
			return r.stageLaunches(in, c, k, false)
		}
	}
	return nil
}

// isForced reports whether an operator completed the stage of the instance.
func (s *Rollout) isForced(in *facts.Instance, sg stage) bool {
	r := s.rulings
	if !r.RulesSteps() {
		return false
	}
	st := tree.Step{On: in, Tasks: sg.tasks}
	return r.OnStep(sg.phase.Name, st.Key()).Forced != nil
}

// recovers reports whether filling a vacant place is recovery's: while a
// deployment goes on, what never ran, or was stopped by it, is its own.
func (r *Rollout) recovers(in *facts.Instance) bool {
	if in.Group.Unpromoted && !in.Canary && r.IsMissed(in) {
		return true // the older version goes on until the newest is promoted
	}
	if r.isLeftOut(in) {
		return false
	}
	if in.Group.Rolling && (r.Stands == succeeded || r.Stands == given) {
		return r.IsMissed(in) || in.Node != "" || r.Stands == succeeded || !r.HasOutdated(in.Group) && r.spec == nil
	}
	if !r.IsMissed(in) {
		return r.Stands == notNeeded && in.Group.Rolling
	}
	return !r.Job.RunsToCompletion() && facts.NeedsRecovery(in.Last)
}

// isLeaving reports whether the drain moves the instance now.
func (r *Rollout) isLeaving(in *facts.Instance) bool {
	if in.Alloc == nil {
		return in.Last != nil && in.Last.DesiredReason == api.ReasonMigrated && r.IsDrained(in.Last) && r.recovers(in)
	}
	return in.State == facts.Moving && r.IsDrained(in.Alloc)
}
