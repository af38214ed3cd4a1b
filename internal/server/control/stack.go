// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/state"
)

const (
	// stacksDeploying bounds the stacks that deploy at the same time.
	stacksDeploying = 4
	// stackRetry is the time between two looks at a stack that waits for something that
	// no change of its own reports: a free place to deploy, or the end of a shift.
	stackRetry = 2 * time.Second
)

// stacks moves stacks from pending to ready, and removes those that a sweep gave up.
type stacks struct{}

// NewStacks returns the controller of stacks. Its keys are the namespaces and names of stacks.
func NewStacks() Controller { return stacks{} }

func (stacks) Name() string { return "stacks" }

func (stacks) All(snap *state.Snapshot) (keys []string) {
	for s := range snap.Stacks("*") {
		keys = append(keys, jobKey(s.Key()))
	}
	return keys
}

func (stacks) Touched(c *state.Change, add func(string)) {
	switch o := c.New.(type) {
	case *api.Stack:
		add(jobKey(o.Key()))
		return
	case *api.Allocation:
		if o.Job != nil && o.Job.Stack != nil {
			add(jobKey(api.NamespacedID{Namespace: o.Namespace, ID: o.JobID}))
		}
	case *api.Deployment:
		if _, _, _, ok := api.ParseStackName(o.JobID); ok {
			add(jobKey(api.NamespacedID{Namespace: o.Namespace, ID: o.JobID}))
		}
	}
	for _, o := range []any{c.Old, c.New} {
		if job, _ := o.(*api.Job); job != nil && job.Stack != nil {
			add(jobKey(job.Key()))
		}
	}
}

func (stacks) Act(snap *state.Snapshot, key string, now time.Time) ([]state.Command, time.Time) {
	id := parseJobKey(key)
	s := snap.Stack(id.Namespace, id.ID)
	if s == nil {
		return nil, time.Time{}
	}
	job := snap.Job(s.Namespace, s.Name)
	switch {
	case s.Status == api.StackTerminated:
		if end := s.StatusSince.Add(api.AuditKept); now.Before(end) {
			return nil, end
		}
		return []state.Command{state.ForgetStack(s)}, time.Time{}
	case s.Removing:
		return removeStack(s, job, now)
	case s.Status == api.StackPending:
		return deployStack(snap, s, job, now)
	case s.Shape == api.ShapeExternal:
	case job == nil || job.Stop:
		return []state.Command{state.PutStack(withStatus(s, api.StackTerminated, "its job was stopped", now))}, time.Time{}
	case s.Status == api.StackDeploying:
		return followDeployment(snap, s, job, now)
	case s.Status == api.StackWarming:
		return promoteStack(snap, s, now)
	}
	return nil, time.Time{}
}

func withStatus(s *api.Stack, status, reason string, now time.Time) *api.Stack {
	n := s.Copy()
	n.Status, n.StatusSince, n.StatusReason, n.StatusBy = status, now, reason, ""
	return n
}

// removeStack purges the job of a stack, and terminates the stack when the job is gone.
func removeStack(s *api.Stack, job *api.Job, now time.Time) ([]state.Command, time.Time) {
	if job == nil {
		n := withStatus(s, api.StackTerminated, "removed", now)
		n.Removing = false
		return []state.Command{state.PutStack(n)}, time.Time{}
	}
	if job.Purge {
		return nil, time.Time{} // the end of the job touches the stack
	}
	return []state.Command{&state.DeregisterJob{
		Namespace: s.Namespace, ID: s.Name, Purge: true, Time: now.UnixNano(),
		Evaluation: stackEvaluation(job, api.TriggerJobDeregister, now),
	}}, time.Time{}
}

// deployStack registers the job of a pending stack when few enough others deploy.
func deployStack(snap *state.Snapshot, s *api.Stack, job *api.Job, now time.Time) ([]state.Command, time.Time) {
	if awaitsDependency(snap, s) {
		return nil, now.Add(stackRetry)
	}
	deploying := 0
	for other := range snap.Stacks("*") {
		if other.Status == api.StackDeploying {
			deploying++
		}
	}
	if deploying >= stacksDeploying {
		return nil, now.Add(stackRetry)
	}
	var cmds []state.Command
	if job == nil {
		submitted := snap.StackJob(s.Namespace, s.Name)
		if submitted == nil {
			return []state.Command{state.PutStack(lifecycle.MarkFailed(s, "its submitted job is not stored", now))}, time.Time{}
		}
		job = submitted.Copy()
		job.SubmitTime = now.UnixNano()
		cmds = append(cmds, &state.RegisterJob{Job: job, Evaluation: stackEvaluation(job, api.TriggerJobRegister, now), EnforceIndex: new(uint64)})
	}
	return append(cmds, state.PutStack(withStatus(s, api.StackDeploying, "its job is registered", now))), time.Time{}
}

// awaitsDependency reports whether a dependency of a stack is still on its way: no ready
// stack satisfies it, but one does that is being deployed.
func awaitsDependency(snap *state.Snapshot, s *api.Stack) bool {
	for _, dep := range s.Spec.Depends {
		ready, coming := false, false
		for namespace := s.Namespace; namespace != ""; namespace = path.Dir(namespace) {
			for other := range snap.StacksOfUnit(namespace, dep.Unit) {
				if other.Version.Satisfies(dep.Wants()) {
					ready = ready || other.IsRoutable()
					coming = coming || other.IsLive()
				}
			}
			if !strings.Contains(namespace, "/") {
				break
			}
		}
		if coming && !ready {
			return true
		}
	}
	return false
}

// stackEvaluation returns a new evaluation of a stack's job, nil if the job only starts others.
func stackEvaluation(job *api.Job, trigger string, now time.Time) *api.Evaluation {
	if job.IsPeriodic() || job.IsParameterized() {
		return nil
	}
	return &api.Evaluation{
		ID: api.NewID(), Namespace: job.Namespace, JobID: job.ID, Type: job.Type, Priority: job.Priority,
		TriggeredBy: trigger, JobModifyIndex: job.JobModifyIndex, Status: api.EvalStatusPending,
		CreateTime: now.UnixNano(), ModifyTime: now.UnixNano(),
	}
}

// followDeployment waits for the end of a stack's first deployment.
func followDeployment(snap *state.Snapshot, s *api.Stack, job *api.Job, now time.Time) ([]state.Command, time.Time) {
	d := snap.LatestDeployment(s.Namespace, s.Name)
	switch {
	case job.Failure != nil:
		return []state.Command{state.PutStack(lifecycle.MarkFailed(s, "its job has failed: "+job.StatusDescription, now))}, time.Time{}
	case d == nil && !isStarted(snap, s, job):
		return nil, time.Time{}
	case d != nil && d.IsActive():
		return nil, time.Time{}
	case d != nil && d.Status != api.DeploymentSuccessful:
		return []state.Command{state.PutStack(lifecycle.MarkFailed(s, fmt.Sprintf("deployment %s: %s", api.ShortID(d.ID), d.StatusDescription), now))}, time.Time{}
	}
	n := withStatus(s, api.StackWarming, "its first deployment is complete", now)
	n.RunningAt, n.Expires = now, lifecycle.WarmingDeadline(s, now)
	if s.Shape != api.ShapeService {
		n.Status, n.StatusReason = api.StackReady, "deployed; it has no port, so nothing warms it"
		n.Expires = now.Add(s.Spec.TTL())
	}
	return []state.Command{state.PutStack(n)}, time.Time{}
}

// isStarted reports whether a job without a deployment runs as it should: all of its allocations
// have started, or none are to start.
func isStarted(snap *state.Snapshot, s *api.Stack, job *api.Job) bool {
	if job.IsPeriodic() || job.IsParameterized() {
		return true
	}
	count := 0
	for a := range snap.AllocationsByJob(s.Namespace, s.Name) {
		switch {
		case a.IsServerTerminal():
		case a.ClientStatus == api.AllocClientRunning, a.ClientStatus == api.AllocClientComplete:
			count++
		default:
			return false
		}
	}
	return count > 0
}

// promoteStack decides about a warming stack together with the others of its unit.
func promoteStack(snap *state.Snapshot, s *api.Stack, now time.Time) ([]state.Command, time.Time) {
	x := UnitIndex(snap, s.Namespace, s.Unit)
	warmth := func(s *api.Stack) lifecycle.Warmth { return warmthOf(snap, s) }
	for _, p := range x.Promote(s.Namespace, s.Unit, s.Version.Major, warmth) {
		if p.Stack.Name != s.Name {
			continue
		}
		switch {
		case p.Overtaken:
			return []state.Command{state.PutStack(lifecycle.MarkFailed(s, "overtaken by "+p.Other+", which is healthy", now))}, time.Time{}
		case p.Wait != "":
			if reason := p.Wait.Sentence(p.Other); reason != s.StatusReason {
				n := s.Copy()
				n.StatusReason = reason
				return []state.Command{state.PutStack(n)}, now.Add(stackRetry)
			}
			return nil, now.Add(stackRetry)
		}
		return promote(p, now), time.Time{}
	}
	return nil, now.Add(stackRetry)
}

// promote makes a stack ready, and begins the shift to it.
func promote(p lifecycle.Promotion, now time.Time) []state.Command {
	s := p.Stack
	n := withStatus(s, api.StackReady, "", now)
	if end := now.Add(s.Spec.Extension()); end.After(n.Expires) {
		n.Expires = end
	}
	switch {
	case p.Target:
		n.StatusReason = fmt.Sprintf("first of %d.x: it receives all traffic", s.Version.Major)
	case p.Lower:
		n.StatusReason = "a higher version, or one that is not deprecated, receives the traffic; shift to it with: reeve stack shift -to " + s.Name
	case p.ShiftFrom == nil:
		n.StatusReason = "ready without traffic, as its shift policy says; shift to it with: reeve stack shift -to " + s.Name
	default:
		n.StatusReason = fmt.Sprintf("traffic shifts to it from %s", p.ShiftFrom.Name)
		return []state.Command{
			state.PutShift(lifecycle.NewShift(api.NewID(), p.ShiftFrom, s, s.Spec.ShiftPolicy(), "", now)),
			state.PutStack(n),
		}
	}
	return []state.Command{state.PutStack(n)}
}

// warmthOf counts the healthy instances of a stack.
func warmthOf(snap *state.Snapshot, s *api.Stack) lifecycle.Warmth {
	var w lifecycle.Warmth
	for a := range snap.AllocationsByJob(s.Namespace, s.Name) {
		switch {
		case a.IsServerTerminal():
		case a.IsRoutable():
			w.Passing++
		default:
			w.Failing++
		}
	}
	return w
}

// UnitIndex indexes the stacks of one unit in one namespace.
func UnitIndex(snap *state.Snapshot, namespace, unit string) *lifecycle.Index {
	var in lifecycle.Input
	for s := range snap.StacksOfUnit(namespace, unit) {
		if s.Status != api.StackTerminated {
			in.Stacks = append(in.Stacks, s)
		}
	}
	for _, u := range []*api.Unit{snap.Unit(namespace, unit), snap.Unit(api.AnyNamespace, unit)} {
		if u != nil {
			in.Units = append(in.Units, u)
		}
	}
	for s := range snap.Shifts() {
		if s.IsActive() && s.Namespace == namespace && s.Unit == unit {
			in.Shifts = append(in.Shifts, s)
		}
	}
	return lifecycle.NewIndex(in)
}
