// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// This file is about what is not essential: a task whose failure is its own is
// launched again alone, in the allocation that goes on around it. How often that
// was tried is in the token of the launch, so nothing else has to be remembered.

// repairs derives a step for each task of the instance that is not essential and
// has failed: it is launched again after the delay of the reschedule policy.
func (s *recoverer) repairs(in *instance) (steps []step) {
	a := in.alloc
	def := a.Job.Group(in.group.name)
	if def == nil {
		return nil
	}
	for _, t := range def.Tasks {
		if t.Essential == nil || *t.Essential || goalOf(a.Job, t) != api.GoalRunning {
			continue
		}
		if st := s.repair(in, t); st.status != "" {
			steps = append(steps, st)
		}
	}
	return steps
}

// repairToken begins the tokens of launches after a failure: behind it are how
// many there were in a row, and when the task failed.
const repairToken = "recovery-"

func (s *recoverer) repair(in *instance, t *api.Task) step {
	a := in.alloc
	l, launched := launchOf(a, t.Name)
	is := a.TaskStates[t.Name]
	st := step{on: in, job: a.Job, tasks: []string{t.Name}}
	st.mutableExtra().recovery = api.RecoveryTransient
	switch {
	case !launched || l.Hold || l.Done || l.Alone:
		return step{}
	case strings.HasPrefix(l.Token, repairToken) && (is == nil || is.Launch != l.Token || is.State == api.TaskStatePending):
		st.status, st.why = Starting, l.Why
		return st
	case is == nil || is.State != api.TaskStateDead || !is.Failed || is.Launch != l.Token:
		return step{}
	}
	p := s.policy(in)
	row := 0
	if number, ok := strings.CutPrefix(l.Token, repairToken); ok && is.FinishedAt.Sub(is.StartedAt) <= calmOf(p) {
		number, _, _ = strings.Cut(number, "-")
		row, _ = strconv.Atoi(number)
	}
	if p == nil || !isTrue(p.Unlimited) && row >= of(p.Attempts) {
		st.status, st.why = Error, failure(is)+", and its reschedule policy allows no further attempt"
		return st
	}
	due := is.FinishedAt
	if row >= of(p.Immediate) {
		due = due.Add(delayAfter(p, row-of(p.Immediate)))
	}
	now := s.now
	if s.eval != nil && s.eval.ID == a.FollowupEvalID {
		now = now.Add(together)
	}
	st.why = failure(is)
	if due.After(now) {
		st.action, st.status, st.until = later, Delayed, due
		return st
	}
	st.action, st.status = launch, Pending
	st.mutableExtra().launches = map[string]*api.Launch{t.Name: {
		Token: fmt.Sprintf("%s%d-%d", repairToken, row+1, is.FinishedAt.UnixNano()), Await: l.Await,
		Index: l.Index, Env: l.Env, Why: "launched again: " + failure(is),
	}}
	return st
}

// delayAfter is the delay before an attempt, n having been delayed before it.
func delayAfter(p *api.Reschedule, n int) time.Duration {
	delay, before := of(p.Delay), time.Duration(0)
	for range n {
		switch of(p.DelayFunction) {
		case api.DelayExponential:
			delay *= 2
		case api.DelayFibonacci:
			delay, before = delay+before, delay
		}
		if limit := of(p.MaxDelay); limit > 0 && delay >= limit {
			return limit
		}
	}
	return delay
}

// failure tells how a task ended.
func failure(is *api.TaskState) string {
	for i := len(is.Events) - 1; i >= 0; i-- {
		if e := is.Events[i]; e.Type == api.EventTerminated {
			if e.Signal != 0 {
				return fmt.Sprintf("it was ended by signal %d", e.Signal)
			}
			return fmt.Sprintf("it failed with exit code %d", e.ExitCode)
		}
	}
	return "it failed"
}
