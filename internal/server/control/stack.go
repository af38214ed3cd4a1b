// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"path"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/state"
)

const (
	// stacksDeploying bounds the stacks that deploy at the same time.
	stacksDeploying = 4
	// stackRetry is the longest time between two looks at a stack that waits for something that
	// no change of its own reports: a free place to deploy, or the end of a shift.
	stackRetry = 2 * time.Second
)

// stacks moves stacks from pending to ready, and removes those that a sweep gave up.
type stacks struct {
	mu sync.Mutex // changes arrive in another goroutine
	// deploying holds the keys of stacks that deploy, also of those whose command is not applied yet. It leaves
	// out stacks without room: they start nothing, and would delay the others for as long as the room lacks.
	deploying map[string]bool
	waiting   map[string]bool // keys of pending stacks that wait for their turn
}

// NewStacks returns the controller of stacks. Its keys are the namespaces and names of stacks.
func NewStacks() Controller {
	return &stacks{deploying: make(map[string]bool), waiting: make(map[string]bool)}
}

func (*stacks) Name() string { return "stacks" }

func (c *stacks) All(snap *state.Snapshot) (keys []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.deploying)
	for s := range snap.Stacks("*") {
		key := jobKey(s.Key())
		keys = append(keys, key)
		if isDeploying(snap, s) {
			c.deploying[key] = true
		}
	}
	return keys
}

func (c *stacks) Touched(change *state.Change, add func(string)) {
	switch o := change.New.(type) {
	case *api.Stack:
		add(jobKey(o.Key()))
		if old, ok := change.Old.(*api.Stack); ok && old.Status != o.Status {
			c.wakeWaiting(add)
		}
		return
	case *api.Allocation:
		if o.Job != nil && o.Job.Stack != nil {
			add(jobKey(api.NamespacedID{Namespace: o.Namespace, ID: o.JobID}))
		}
	case *api.Deployment:
		touchStack(o.Namespace, o.JobID, add)
	case *api.Evaluation:
		if isBlocked := o.Status == api.EvalStatusBlocked; isBlocked || wasBlocked(change) {
			touchStack(o.Namespace, o.JobID, add)
			if isBlocked {
				c.wakeWaiting(add)
			}
		}
	}
	for _, o := range []any{change.Old, change.New} {
		if job, _ := o.(*api.Job); job != nil && job.Stack != nil {
			add(jobKey(job.Key()))
		}
	}
}

// touchStack adds the key of the stack that has the job.
func touchStack(namespace, job string, add func(string)) {
	if _, _, _, ok := api.ParseStackName(job); ok {
		add(jobKey(api.NamespacedID{Namespace: namespace, ID: job}))
	}
}

func wasBlocked(change *state.Change) bool {
	old, ok := change.Old.(*api.Evaluation)
	return ok && old.Status == api.EvalStatusBlocked
}

func (c *stacks) Act(snap *state.Snapshot, key string, now time.Time) ([]state.Command, time.Time) {
	id := parseJobKey(key)
	s := snap.Stack(id.Namespace, id.ID)
	c.note(key, s != nil && isDeploying(snap, s))
	if s == nil {
		return nil, time.Time{}
	}
	job := snap.Job(s.Namespace, s.Name)
	switch {
	case s.Status == api.StackTerminated:
		return forgetStacks(snap, s, now)
	case s.Removing:
		return removeStack(snap, s, job, now)
	case s.Status == api.StackPending:
		return c.deployStack(snap, s, job, now)
	case job == nil && isUnregistered(s):
		return nil, time.Time{} // nothing of it runs, and users read the cause until its grace ends
	case !s.IsExternal() && (job == nil || job.Stop):
		return endStack(snap, s, job, now), time.Time{}
	case s.Status == api.StackDeploying:
		return followDeployment(snap, s, job, now)
	case s.Status == api.StackWarming:
		return promoteStack(snap, s, now)
	}
	return nil, time.Time{}
}

// isUnregistered reports whether a stack failed before its job was registered.
func isUnregistered(s *api.Stack) bool {
	return s.Status == api.StackFailed && (s.StatusReason == api.ReasonStackJobMissing || s.StatusReason == api.ReasonStackJobRejected)
}

// endStack ends a stack without a running job. The job of a stack that deploys may be missing
// because a route of another job came first.
func endStack(snap *state.Snapshot, s *api.Stack, job *api.Job, now time.Time) []state.Command {
	if job == nil && s.Status == api.StackDeploying {
		if submitted := snap.StackJob(s.Namespace, s.Name); submitted != nil {
			if err := snap.CheckRegistration(submitted, new(uint64)); err != nil {
				return []state.Command{state.PutStack(lifecycle.MarkFailed(s, api.ReasonStackJobRejected, api.JobRejectedText(err), now))}
			}
		}
	}
	return []state.Command{state.PutStack(withStatus(s, api.StackTerminated, api.ReasonStackJobStopped, now))}
}

// isDeploying reports whether a stack's first deployment makes progress: no instance waits for room.
func isDeploying(snap *state.Snapshot, s *api.Stack) bool {
	return s.Status == api.StackDeploying && snap.BlockedEvaluation(s.Namespace, s.Name) == nil
}

// note notes whether a stack deploys.
func (c *stacks) note(key string, deploys bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if delete(c.deploying, key); deploys {
		c.deploying[key] = true
	}
}

// take reports whether few enough others deploy for a pending stack to deploy now.
func (c *stacks) take(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.deploying) >= stacksDeploying {
		return false
	}
	c.deploying[key] = true
	return true
}

// wait has the next change of another stack's status touch a pending stack.
func (c *stacks) wait(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[key] = true
}

// wakeWaiting adds the pending stacks that wait: another stack may have made room, or may be their dependency.
func (c *stacks) wakeWaiting(add func(string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.waiting {
		add(key)
	}
	clear(c.waiting)
}

func withStatus(s *api.Stack, status string, reason api.Reason, now time.Time) *api.Stack {
	n := s.Copy()
	n.Status, n.StatusSince, n.StatusReason, n.StatusDescription, n.StatusBy = status, now, reason, "", ""
	return n
}

// deployStack registers the job of a pending stack when its dependencies are ready and few enough others deploy.
func (c *stacks) deployStack(snap *state.Snapshot, s *api.Stack, job *api.Job, now time.Time) ([]state.Command, time.Time) {
	if key := jobKey(s.Key()); awaitsDependency(snap, s) || !c.take(key) {
		c.wait(key)
		return nil, now.Add(stackRetry)
	}
	var cmds []state.Command
	if job == nil {
		submitted := snap.StackJob(s.Namespace, s.Name)
		if submitted == nil {
			return []state.Command{state.PutStack(lifecycle.MarkFailed(s, api.ReasonStackJobMissing, "", now))}, time.Time{}
		}
		job = submitted.Copy()
		job.SubmitTime = now.UnixNano()
		findDependencies(snap, s, job)
		if err := snap.CheckRegistration(job, new(uint64)); err != nil {
			return []state.Command{state.PutStack(lifecycle.MarkFailed(s, api.ReasonStackJobRejected, api.JobRejectedText(err), now))}, time.Time{}
		}
		cmds = append(cmds, &state.RegisterJob{Job: job, Evaluation: stackEvaluation(job, api.TriggerJobRegister, now), EnforceIndex: new(uint64)})
	}
	return append(cmds, state.PutStack(withStatus(s, api.StackDeploying, api.ReasonStackDeploying, now))), time.Time{}
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
		return []state.Command{state.PutStack(lifecycle.MarkFailed(s, api.ReasonStackJobFailed, api.JobFailedText(job.StatusDescription), now))}, time.Time{}
	case d == nil && !isStarted(snap, s, job):
		return nil, time.Time{}
	case d != nil && d.IsActive():
		return nil, time.Time{}
	case d != nil && d.Status != api.DeploymentSuccessful:
		return []state.Command{state.PutStack(lifecycle.MarkFailed(s, api.ReasonStackDeploymentFailed, api.DeploymentFailedText(d), now))}, time.Time{}
	}
	n := withStatus(s, api.StackWarming, api.ReasonStackDeployed, now)
	n.RunningAt, n.Expires = now, lifecycle.WarmingDeadline(s, now)
	if s.Shape != api.ShapeService {
		n.Status, n.StatusReason = api.StackReady, api.ReasonStackPortless
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
			return []state.Command{state.PutStack(lifecycle.MarkFailed(s, api.ReasonStackOvertaken, api.OvertakenText(p.Other), now))}, time.Time{}
		case p.Wait != "":
			n := s.Copy()
			n.StatusReason, n.StatusDescription = p.Wait.Reason(p.Other)
			if n.StatusReason != s.StatusReason || n.StatusDescription != s.StatusDescription {
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
	n := withStatus(s, api.StackReady, api.ReasonStackShift, now)
	if end := now.Add(s.Spec.Extension()); end.After(n.Expires) {
		n.Expires = end
	}
	switch {
	case p.Target:
		n.StatusReason = api.ReasonStackFirst
	case p.Lower:
		n.StatusReason = api.ReasonStackLower
	case p.ShiftFrom == nil:
		n.StatusReason = api.ReasonStackNoTraffic
	default:
		n.StatusDescription = api.ShiftsText(p.ShiftFrom.Name)
		return []state.Command{&state.BeginShift{
			Shift: lifecycle.NewShift(api.NewID(), p.ShiftFrom, s, s.Spec.ShiftPolicy(), "", now), Stack: n,
		}}
	}
	return []state.Command{state.PutStack(n)}
}

// warmthOf counts the healthy instances of a stack. A stack outside of Reeve counts as one that is healthy:
// its operator says so.
func warmthOf(snap *state.Snapshot, s *api.Stack) lifecycle.Warmth {
	var w lifecycle.Warmth
	if s.IsExternal() {
		w.Passing++
	}
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
