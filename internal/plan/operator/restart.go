// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"slices"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/ident"
	"github.com/reeve-run/reeve/internal/plan/launch"
	"github.com/reeve-run/reeve/internal/plan/view"
)

// NewRestart makes the restart that an operator asks for, to be stored. It is
// refused while the job is deployed or restarted.
func NewRestart(r facts.Reader, job *api.Job, req *api.JobRestartRequest, now time.Time) (*api.JobRestart, error) {
	if req == nil {
		req = &api.JobRestartRequest{}
	}
	if err := checkRestart(job, req); err != nil {
		return nil, err
	}
	if job.Stop || job.IsPeriodic() || job.IsParameterized() {
		return nil, api.Errorf(api.CodeConflict, "no allocation of job %q runs: nothing can be restarted", job.ID)
	}
	if d := r.LatestDeployment(job.Namespace, job.ID); d != nil && d.IsActive() && d.JobCreateIndex == job.CreateIndex {
		return nil, api.Errorf(api.CodeConflict, "job %q is being deployed: deployment %s is %s; wait for its end, or fail it", job.ID, api.ShortID(d.ID), d.Status)
	}
	before := ""
	if j := r.LatestRestart(job.Namespace, job.ID); j != nil {
		if before = j.ID; j.IsActive() && j.JobCreateIndex == job.CreateIndex {
			return nil, api.Errorf(api.CodeConflict, "job %q is being restarted: restart %s is %s; wait for its end, or cancel it", job.ID, api.ShortID(j.ID), j.Status)
		}
	}
	if err := checkRuns(r, job, req, now); err != nil {
		return nil, err
	}
	j := &api.JobRestart{
		ID:        ident.Derive("restart", job.Namespace, job.ID, strconv.FormatInt(now.UnixNano(), 10), strconv.FormatUint(job.ModifyIndex, 10), before),
		Namespace: job.Namespace, JobID: job.ID, JobVersion: job.Version, JobCreateIndex: job.CreateIndex,
		BatchSize: max(req.BatchSize, 1), BatchWait: req.BatchWait, Groups: req.Groups, Tasks: req.Tasks,
		HealthGate: req.HealthGate, MaxUnhealthy: req.MaxUnhealthy, OnError: req.OnError,
		Status: api.RestartRunning, StatusReason: api.ReasonRestartRunning, StatusDescription: api.ReasonRestartRunning.Text(), RestartedAllocs: []string{},
		By: decision.OrUnknown(req.By), Reason: req.Reason, StartedAt: now.UTC(), UpdatedAt: now.UTC(),
	}
	if j.OnError == "" {
		j.OnError = api.RestartOnErrorPause
	}
	return j, nil
}

// checkRestart checks a request against the job.
func checkRestart(job *api.Job, req *api.JobRestartRequest) error {
	switch {
	case req.BatchSize < 0:
		return api.Errorf(api.CodeInvalid, "BatchSize is %d: set the number of allocations to restart at the same time, at least 1", req.BatchSize)
	case req.BatchWait < 0:
		return api.Errorf(api.CodeInvalid, "BatchWait is %s: set the time between batches, at least 0", req.BatchWait)
	case req.MaxUnhealthy < 0:
		return api.Errorf(api.CodeInvalid, "MaxUnhealthy is %d: set the number of allocations that may stay unhealthy, at least 0", req.MaxUnhealthy)
	case !slices.Contains([]string{"", api.RestartOnErrorFail, api.RestartOnErrorPause, api.RestartOnErrorContinue}, req.OnError):
		return api.Errorf(api.CodeInvalid, "OnError is %q: set it to %s, %s or %s", req.OnError, api.RestartOnErrorFail, api.RestartOnErrorPause, api.RestartOnErrorContinue)
	}
	var groups, tasks []string
	for _, g := range job.Groups {
		groups = append(groups, g.Name)
		if len(req.Groups) == 0 || slices.Contains(req.Groups, g.Name) {
			tasks = append(tasks, facts.TaskNames(g)...)
		}
	}
	for _, name := range req.Groups {
		if !slices.Contains(groups, name) {
			return noSuch("job "+strconv.Quote(job.ID)+" has no group "+strconv.Quote(name), "groups", groups)
		}
	}
	for _, name := range req.Tasks {
		if !slices.Contains(tasks, name) {
			slices.Sort(tasks)
			return noSuch("job "+strconv.Quote(job.ID)+" has no task "+strconv.Quote(name)+" in the groups to restart", "tasks", slices.Compact(tasks))
		}
	}
	return nil
}

// checkRuns checks that something of what is to be restarted runs: what has
// finished, or only runs in plans of operators, is not run again by a restart.
func checkRuns(r facts.Reader, job *api.Job, req *api.JobRestartRequest, now time.Time) error {
	v := view.Derive(r, job.Key(), job, now)
	defer v.Release()
	var restartable []string
	for _, g := range v.Groups {
		if len(req.Groups) > 0 && !slices.Contains(req.Groups, g.Name) {
			continue
		}
		for i := range g.Instances {
			restartable = append(restartable, tasksGoingOn(&g.Instances[i])...)
		}
	}
	slices.Sort(restartable)
	restartable = slices.Compact(restartable)
	switch {
	case len(restartable) == 0:
		return api.Errorf(api.CodeConflict, "no running allocation of job %q can be restarted in place: see reeve plan show %s", job.ID, job.ID)
	case len(req.Tasks) == 0, slices.ContainsFunc(req.Tasks, func(name string) bool { return slices.Contains(restartable, name) }):
		return nil
	}
	e := api.Errorf(api.CodeConflict, "no task %s of job %q keeps running: a restart does not repeat tasks that finish; these can be restarted", quoted(req.Tasks), job.ID)
	e.Detail = shorten(restartable)
	return e
}

// tasksGoingOn are the tasks of the instance that can be restarted in place.
func tasksGoingOn(in *facts.Instance) (names []string) {
	if a := in.Alloc; a != nil && (in.State == facts.Placed || in.State == facts.Running || in.State == facts.Unknown || in.State == facts.Moving) {
		if g := a.Job.Group(in.Group.Name); g != nil {
			for _, t := range g.Tasks {
				if launch.KeepsRunning(a, g, t) {
					names = append(names, t.Name)
				}
			}
		}
	}
	return names
}

// RestartStatus is what a verb on the plan restart makes of the restart's status;
// not ok if it does not change that.
func RestartStatus(verb api.Verb) (status string, ok bool) {
	switch verb {
	case api.VerbInterrupt:
		return api.RestartPaused, true
	case api.VerbContinue:
		return api.RestartRunning, true
	case api.VerbStop:
		return api.RestartCancelled, true
	}
	return "", false
}
