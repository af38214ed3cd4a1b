// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/launch"
	"github.com/reeve-run/reeve/internal/plan/opt"
	"github.com/reeve-run/reeve/internal/plan/reschedule"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// This file is about what is not essential: a task whose failure is its own is
// launched again alone, in the allocation that goes on around it. How often that
// was tried is in the token of the launch, so nothing else has to be remembered.

// repairs derives a step for each task of the instance that is not essential and
// has failed: it is launched again after the delay of the reschedule policy.
func (r *recoverer) repairs(in *facts.Instance) (steps []tree.Step) {
	a := in.Alloc
	def := a.Job.Group(in.Group.Name)
	if def == nil {
		return nil
	}
	for _, t := range def.Tasks {
		if t.Essential == nil || *t.Essential || launch.GoalOf(a.Job, t) != api.GoalRunning {
			continue
		}
		if st := r.repair(in, t); st.Status != "" {
			steps = append(steps, st)
		}
	}
	return steps
}

// repairToken begins the tokens of launches after a failure: behind it are how
// many there were in a row, and when the task failed.
const repairToken = "recovery-"

func (r *recoverer) repair(in *facts.Instance, t *api.Task) tree.Step {
	a := in.Alloc
	l, launched := launch.Of(a, t.Name)
	is := a.TaskStates[t.Name]
	st := tree.Step{On: in, Job: a.Job, Tasks: []string{t.Name}}
	st.MutableExtra().Recovery = api.RecoveryTransient
	switch {
	case !launched || l.Hold || l.Done || l.Alone:
		return tree.Step{}
	case strings.HasPrefix(l.Token, repairToken) && (is == nil || is.Launch != l.Token || is.State == api.TaskStatePending):
		st.Status, st.Why = tree.Starting, l.Why
		return st
	case is == nil || is.State != api.TaskStateDead || !is.Failed || is.Launch != l.Token:
		return tree.Step{}
	}
	p := r.Policy(in)
	row := 0
	if number, ok := strings.CutPrefix(l.Token, repairToken); ok && is.FinishedAt.Sub(is.StartedAt) <= reschedule.CalmPeriod(p) {
		number, _, _ = strings.Cut(number, "-")
		row, _ = strconv.Atoi(number)
	}
	if p == nil || !opt.IsTrue(p.Unlimited) && row >= opt.Of(p.Attempts) {
		st.Status, st.Why = tree.Error, failure(is)+", and its reschedule policy allows no further attempt"
		return st
	}
	due := is.FinishedAt
	if row >= opt.Of(p.Immediate) {
		due = due.Add(reschedule.DelayAfter(p, row-opt.Of(p.Immediate)))
	}
	now := r.Now
	if r.Eval != nil && r.Eval.ID == a.FollowupEvalID {
		now = now.Add(reschedule.Together)
	}
	st.Why = failure(is)
	if due.After(now) {
		st.Action, st.Status, st.Until = tree.Later, tree.Delayed, due
		return st
	}
	st.Action, st.Status = tree.Launch, tree.Pending
	st.MutableExtra().Launches = map[string]*api.Launch{t.Name: {
		Token: fmt.Sprintf("%s%d-%d", repairToken, row+1, is.FinishedAt.UnixNano()), Await: l.Await,
		Index: l.Index, Env: l.Env, Why: "launched again: " + failure(is),
	}}
	return st
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
