// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// launch notes the launches of an allocation, and reports whether they are new.
// The mutex is held.
func (n *fakeNode) launch(a *api.Allocation, job *api.Job) bool {
	old := n.now[a.ID]
	if old != nil {
		job = old.Job
	}
	a = a.Copy()
	a.Job = job
	if !hasLaunches(a) || old != nil && (a.Launches == nil || old.Launches != nil && old.Launches.ID == a.Launches.ID) {
		return false
	}
	n.now[a.ID] = a
	return true
}

// hasLaunches reports whether a node tells more of the allocation than its
// status: how its tasks are.
func hasLaunches(a *api.Allocation) bool {
	if a.Launches != nil {
		return true
	}
	if a.Job == nil || a.Job.Group(a.Group) == nil {
		return false
	}
	for _, t := range a.Job.Group(a.Group).Tasks {
		if t.Goal != "" {
			return true
		}
	}
	return false
}

// tellTasks adds to a report how the tasks of a living allocation are: what is
// to run does, and what is to end has ended well.
func (n *fakeNode) tellTasks(u *api.Allocation) {
	n.mu.Lock()
	a := n.now[u.ID]
	n.mu.Unlock()
	if a == nil || a.Job == nil || u.ClientStatus != api.AllocClientRunning {
		return
	}
	partial := false
	u.TaskStates = map[string]*api.TaskState{}
	for _, t := range a.Job.Group(a.Group).Tasks {
		s := &api.TaskState{State: api.TaskStateRunning, StartedAt: time.Now()}
		ends := t.Goal == api.GoalFinish || t.Goal == api.GoalOnce
		if a.Launches != nil && a.Launches.Tasks[t.Name] != nil {
			l := a.Launches.Tasks[t.Name]
			s.Launch = l.Token
			partial = partial || l.Await || l.Hold && !l.Alone
			switch {
			case l.Hold || l.Token == "":
				s.State, ends = api.TaskStatePending, false
			case l.Done:
				s.State = api.TaskStateDead
			}
		}
		if ends {
			s.State, s.FinishedAt = api.TaskStateDead, time.Now()
		}
		u.TaskStates[t.Name] = s
	}
	if a.Launches != nil {
		u.LaunchStatus = &api.LaunchStatus{ID: a.Launches.ID, Timestamp: time.Now()}
		if u.DeploymentStatus != nil {
			u.LaunchStatus.Healthy = u.DeploymentStatus.Healthy
		}
	}
	if partial {
		u.DeploymentStatus = nil
	}
}

// tellFailed adds to a report that an allocation failed how its tasks did: they
// had been started. Without that the node has refused it.
func tellFailed(u *api.Allocation, job *api.Job, group string) {
	u.TaskStates = map[string]*api.TaskState{}
	for _, t := range job.Group(group).Tasks {
		u.TaskStates[t.Name] = &api.TaskState{State: api.TaskStateDead, Failed: true, StartedAt: time.Now(), FinishedAt: time.Now()}
	}
}
