// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/reeve-run/reeve/api"

// recoveryTree derives the plan that brings back what failed, was lost or was
// told to stop: a phase per group, a step per instance that is not as it was,
// all at once. The version of an instance is never changed here.
func (s *survey) recoveryTree() *tree {
	t := &tree{name: api.PlanRecovery, strategy: api.StrategyParallel}
	for _, g := range s.groups {
		p := &phase{name: g.name, group: g, strategy: api.StrategyParallel, open: true}
		for in := range g.every {
			if in.taken {
				continue
			}
			if st := s.recoveryStep(in); st.status != "" {
				p.steps = append(p.steps, st)
			}
		}
		if len(p.steps) > 0 {
			t.phases = append(t.phases, p)
		}
	}
	if len(t.phases) == 0 {
		return nil
	}
	return t
}

// recoveryStep derives what is to be done about one instance; without status
// if nothing is.
func (s *survey) recoveryStep(in *instance) step {
	st := step{on: in, job: s.ownVersion(in)}
	switch in.state {
	case vacant:
		if !s.recovers(in) {
			return step{}
		}
		st.do, st.status = start, Prepared
		if in.node != "" && (s.stands == succeeded || s.stands == notNeeded) {
			st.job = s.job // its node missed the rollout
		}
	case lost:
		st.do, st.status, st.why = replace, Prepared, s.whyLost(in.alloc)
	case unknown:
		switch {
		case in.away == nil:
			return step{}
		case in.isLent():
			st.do, st.status, st.why = start, Prepared, "its node is out of reach"
		case in.away.until.IsZero():
			st.status, st.why = Waiting, "its node is out of reach: nobody takes its place until that is back or removed"
		default:
			st.status, st.why, st.until = Delayed, "its node is out of reach: nobody takes its place until it is given up", in.away.until
		}
	case moving:
		st.do, st.status, st.why = replace, Prepared, s.whyMoved(in.alloc)
	case ended:
		if s.job.RunsToCompletion() || in.closed {
			return step{}
		}
		s.reschedule(&st, in, becauseEnded)
	case failed:
		if in.closed {
			return step{}
		}
		s.reschedule(&st, in, becauseFailed)
	default:
		return step{}
	}
	return st
}

// reschedule applies the reschedule policy.
func (s *survey) reschedule(st *step, in *instance, why string) {
	a := nextAttempt(s.policy(in), in.alloc, s.now)
	st.delay, st.why = a.delay, why
	now := s.now
	if s.eval != nil && s.eval.ID == in.alloc.FollowupEvalID {
		now = now.Add(together) // what this evaluation was made for is due
	}
	switch {
	case a.never:
		st.status, st.why = Error, a.why
	case a.due.After(now) && s.knows(in.alloc):
		st.do, st.status, st.until = later, Delayed, a.due
	default:
		st.do, st.status = replace, Prepared
	}
}

// recovers reports whether filling a vacant place is recovery's: while a
// deployment goes on, what never ran, or was stopped by it, is its own.
func (s *survey) recovers(in *instance) bool {
	if in.group.unpromoted && !in.canary && s.isMissed(in) {
		return true // the older version goes on until the newest is promoted
	}
	if in.group.rolling && (s.stands == succeeded || s.stands == given) {
		return s.isMissed(in) || in.node != "" || s.stands == succeeded || !s.anyOld(in.group)
	}
	if !s.isMissed(in) {
		return s.stands == notNeeded && in.group.rolling
	}
	return in.group.rolling && needsRecovery(in.last)
}

// ownVersion is the version that an instance is recovered to: that of its last
// allocation, unless that is not missed, the newest runs the same, or the job
// was removed and registered again since: then the old one is not known any more.
func (s *survey) ownVersion(in *instance) *api.Job {
	a := in.alloc
	if a == nil && s.isMissed(in) {
		a = in.last
	}
	switch {
	case a == nil, !s.knows(a), a.Job.Group(in.group.name) == nil,
		s.current(a), !s.differs(in.group, a):
		return s.job
	}
	return a.Job
}

// knows reports whether the allocation's job is the one that is stored: the job
// was not removed and registered again since.
func (s *survey) knows(a *api.Allocation) bool {
	return a.Job != nil && a.Job.CreateIndex == s.job.CreateIndex
}

// policy is the reschedule policy of an instance: the newest one, which is
// changed in place.
func (s *survey) policy(in *instance) *api.Reschedule {
	if in.group.def != nil {
		return in.group.def.Reschedule
	}
	return nil
}
