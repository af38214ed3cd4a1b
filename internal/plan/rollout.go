// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// rollout holds what later plans must respect of the plan deploy.
type rollout struct {
	*facts
	stands  progress                // of the newest version's deployment
	spec    *api.PlanSpec           // that declares how it is deployed; nil: the plan is generated
	stages  map[string]*groupStages // of a declared plan, by group
	rulings *rulings                // of operators on the plan
	held    bool                    // reports whether the plan was interrupted before its deployment existed
}

// hasEnded reports whether the deployment of the newest version has ended.
func (s *rollout) hasEnded() bool { return s.stands == succeeded || s.stands == given }

// isUnderWay reports whether the newest version is being deployed, or is about to be.
func (s *rollout) isUnderWay() bool { return s.stands == ongoing || s.stands == needed }

// isLeftOut reports whether the plan that the job declares does nothing on the
// instance.
func (s *rollout) isLeftOut(in *instance) bool {
	c := s.stages[in.group.name]
	return c != nil && len(c.of(in.index)) == 0
}

// follows reports whether the plan lets the second stage of an instance begin
// only when the first is complete.
func (s *rollout) follows(in *instance, first, second stage) bool {
	switch {
	case first.phase == second.phase && first.phase.Strategy != api.StrategyDependency:
		return true
	case first.phase == second.phase:
		return slices.ContainsFunc(second.spec.After, func(name string) bool {
			return name == first.spec.Name || name == api.StepName(in.group.name, in.index, first.tasks)
		})
	case s.spec.Strategy == api.StrategyDependency:
		return slices.Contains(second.phase.After, first.phase.Name)
	}
	return s.spec.Strategy != api.StrategyParallel
}

// stageLaunches says of each task of the instance what the stage wants of it:
// its own run, those of later stages do not run yet, and the allocation does
// not count as healthy without them. What runs already is not mentioned.
func (s *rollout) stageLaunches(in *instance, c stages, k int) map[string]*api.Launch {
	wanted := make(map[string]*api.Launch)
	inside := in.alloc != nil && (in.state == placed || in.state == running || in.state == unknown) && !s.outdated(in.group, in.alloc)
	for _, t := range in.group.def.Tasks {
		at := slices.IndexFunc(c, func(sg stage) bool { return slices.Contains(sg.tasks, t.Name) })
		switch {
		case at == k && inside:
			wanted[t.Name] = &api.Launch{Token: deployToken}
		case at == k:
		case at >= 0 && s.isForced(in, c[at]):
			if !inside || !isLaunched(in.alloc, []string{t.Name}) {
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

// firstStage says which tasks an instance that is started anew begins with: those of
// the first stage that is not done for good.
func (s *rollout) firstStage(in *instance, first map[string]*api.Launch) map[string]*api.Launch {
	if s.spec == nil || s.stages[in.group.name] == nil {
		return nil
	}
	c := s.stages[in.group.name].of(in.index)
	for k := range c {
		if slices.ContainsFunc(c[k].tasks, func(name string) bool { return first[name] == nil || !first[name].Done }) && !s.isForced(in, c[k]) {
			return s.stageLaunches(in, c, k)
		}
	}
	return nil
}

// isForced reports whether an operator completed the stage of the instance.
func (s *rollout) isForced(in *instance, sg stage) bool {
	r := s.rulings
	if !r.rulesSteps() {
		return false
	}
	st := step{on: in, tasks: sg.tasks}
	return r.onStep(sg.phase.Name, st.key()).forced != nil
}

// recovers reports whether filling a vacant place is recovery's: while a
// deployment goes on, what never ran, or was stopped by it, is its own.
func (s *rollout) recovers(in *instance) bool {
	if in.group.unpromoted && !in.canary && s.isMissed(in) {
		return true // the older version goes on until the newest is promoted
	}
	if s.isLeftOut(in) {
		return false
	}
	if in.group.rolling && (s.stands == succeeded || s.stands == given) {
		return s.isMissed(in) || in.node != "" || s.stands == succeeded || !s.hasOutdated(in.group) && s.spec == nil
	}
	if !s.isMissed(in) {
		return s.stands == notNeeded && in.group.rolling
	}
	return in.group.rolling && needsRecovery(in.last)
}

// isLeaving reports whether the drain moves the instance now.
func (s *rollout) isLeaving(in *instance) bool {
	if in.alloc == nil {
		return in.last != nil && in.last.DesiredReason == api.ReasonMigrated && s.isDrained(in.last) && s.recovers(in)
	}
	return in.state == moving && s.isDrained(in.alloc)
}
