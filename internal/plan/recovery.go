// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/reeve-run/reeve/api"

// A recoverer builds the plan recovery.
type recoverer struct {
	*rollout
	dirty   *dirtySet
	scratch *scratch
}

// buildRecovery derives the plan recovery; nil if nothing has to be recovered.
func buildRecovery(r *rollout, dirty *dirtySet, m *scratch) *tree {
	s := recoverer{rollout: r, dirty: dirty, scratch: m}
	return s.recoveryTree()
}

// recoveryTree derives the plan that brings back what failed, was lost or was
// told to stop, and does to instances what operators ask for: a phase per
// instance that is not as it was, all at once. The version of an instance is
// never changed here.
func (s *recoverer) recoveryTree() *tree {
	var t *tree
	for _, g := range s.groups {
		for in := range g.every {
			if s.dirty.isDirty(in) {
				continue
			}
			steps := s.recoverySteps(in)
			if len(steps) == 0 {
				continue
			}
			if t == nil {
				t = &tree{name: api.PlanRecovery, strategy: api.StrategyParallel}
			}
			t.phases = append(t.phases, &phase{
				name: in.name(), group: g, strategy: api.StrategyParallel, steps: steps, open: true,
			})
		}
	}
	return s.ruleRecovery(t)
}

// recoverySteps derives what is to be done about one instance.
func (s *recoverer) recoverySteps(in *instance) []step {
	alive := in.alloc != nil && (in.state == placed || in.state == running)
	ordered := len(s.ordersOn(in)) > 0
	if alive && !ordered { // as nearly all are: nothing is wrong with it as a whole
		steps := s.repairs(in)
		if len(steps) == 0 && (in.last != nil || len(in.group.behind) > 0) {
			steps = s.comesUp(in)
		}
		return steps
	}
	if s.isLeaving(in) {
		return nil // the plan drain moves it
	}
	if st := s.recoveryStep(in); st.status != "" {
		if in.alloc != nil || in.last != nil {
			if kind := s.recoveryShown(in, st.until); kind != "" {
				st.mutableExtra().recovery = kind
			}
		}
		if len(s.job.Plans) > 0 && in.group.def != nil {
			st.tasks = deployedTasks(s.job, in.group.def)
		}
		steps := s.scratch.tree.stepsFor(1)
		steps[0] = st
		return steps
	}
	if !alive {
		return nil
	}
	steps := s.repairs(in)
	if st := s.restartOrdered(in); st.status != "" {
		steps = append(steps, st)
	}
	if st := s.pauseStep(in); st.status != "" {
		steps = append(steps, st)
	}
	if len(steps) == 0 {
		steps = s.comesUp(in)
	}
	return steps
}

// comesUp is the step of a replacement that recovery has started and that is not
// well yet, if the instance is one.
func (s *recoverer) comesUp(in *instance) []step {
	if st := s.comingUp(in); st.status != "" {
		return []step{st}
	}
	return nil
}

// recoveryStep derives what is to be done about an instance as a whole; without
// status if nothing is.
func (s *recoverer) recoveryStep(in *instance) step {
	st := step{on: in, job: s.ownVersion(in)}
	if d := s.ordersOn(in).replacedBy(in.alloc); d != nil && !in.closed {
		st.action, st.status, st.why = replace, Prepared, describeDecision("replaced", d)
		return st
	}
	if s.isAbandoned(in) {
		return step{} // the plan deploy says so
	}
	switch in.state {
	case vacant:
		if !s.recovers(in) {
			return step{}
		}
		st.action, st.status = start, Prepared
		if in.node != "" && (s.stands == succeeded || s.stands == notNeeded) {
			st.job = s.job // its node missed the rollout
		}
		if in.last != nil {
			s.stay(&st, in.last)
		}
	case lost:
		st.action, st.status, st.why = replace, Prepared, s.whyLost(in.alloc).Text()
	case unknown:
		switch {
		case in.away == nil:
			return step{}
		case in.away.recovered:
			st.status, st.why, st.until = Delayed, whyRecoveredThere, in.away.until
		case in.isReplaced():
			st.action, st.status, st.why = start, Prepared, "its node is out of reach"
		case in.away.until.IsZero():
			st.status, st.why = Waiting, "its node is out of reach: nobody takes its place until that is back or removed"
		default:
			st.status, st.why, st.until = Delayed, "its node is out of reach: nobody takes its place until it is given up", in.away.until
		}
	case moving:
		st.action, st.status, st.why = replace, Prepared, s.whyMoved(in.alloc).Text()
	case ended:
		if s.job.RunsToCompletion() || in.closed {
			return step{}
		}
		s.reschedule(&st, in, api.ReasonEnded.Text())
	case failed:
		if in.closed {
			return step{}
		}
		s.reschedule(&st, in, api.ReasonFailed.Text())
	default:
		return step{}
	}
	return st
}

// reschedule applies the reschedule policy.
func (s *recoverer) reschedule(st *step, in *instance, why string) {
	a := s.attemptAt(in)
	st.delay, st.why = a.delay, why
	now := s.now
	if s.eval != nil && s.eval.ID == in.alloc.FollowupEvalID {
		now = now.Add(together) // what this evaluation was made for is due
	}
	switch {
	case a.never:
		st.status, st.why = Error, a.why
	case a.due.After(now) && s.knows(in.alloc):
		st.action, st.status, st.until = later, Delayed, a.due
	default:
		st.action, st.status = replace, Prepared
		s.stay(st, in.alloc)
	}
}

// ownVersion is the version that an instance is recovered to: that of its last
// allocation, unless that is not missed, the newest runs the same, or the job
// was removed and registered again since: then the old one is not known any more.
func (s *facts) ownVersion(in *instance) *api.Job {
	a := in.alloc
	if a == nil && s.isMissed(in) {
		a = in.last
	}
	switch {
	case a == nil, s.isCurrent(a), !s.knows(a), a.Job.Group(in.group.name) == nil,
		!s.differs(in.group, a):
		return s.job
	}
	return a.Job
}

// policy is the reschedule policy of an instance: the newest one, which is
// changed in place.
func (s *facts) policy(in *instance) *api.Reschedule {
	if in.group.def != nil {
		return in.group.def.Reschedule
	}
	return nil
}
