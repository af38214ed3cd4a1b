// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
)

// ends collects the allocations of a finished job and computes its completion. It is pure:
// servers with the same state compute the same completion.
type ends struct {
	job    *api.Job
	last   map[place]*api.Allocation // last allocation of each instance
	newest uint64                    // highest CreateIndex
	size   int                       // total size of the added results
	gone   bool                      // reports whether the job is removed, whatever it was about to do
}

// A place identifies one of a job's instances.
type place struct {
	group string
	index int
}

// add adds an allocation. It reports whether the allocation has ended or does not belong
// to the job.
func (e *ends) add(a *api.Allocation) bool {
	if a.Orphan || a.Job == nil || a.Job.CreateIndex != e.job.CreateIndex {
		return true
	}
	if a.HoldsResources() {
		return false
	}
	e.newest = max(e.newest, a.CreateIndex)
	if e.last == nil {
		e.last = map[place]*api.Allocation{}
	}
	p := place{a.Group, a.Index()}
	if other := e.last[p]; other == nil || isSuccessor(a, other) {
		e.last[p] = a
	}
	return true
}

// isSuccessor reports whether a is newer than other.
func isSuccessor(a, other *api.Allocation) bool {
	return cmp.Or(
		cmp.Compare(a.CreateIndex, other.CreateIndex), cmp.Compare(a.CreateTime, other.CreateTime), cmp.Compare(a.ID, other.ID),
	) > 0
}

// completion returns the job's completion.
func (e *ends) completion() *api.Completion {
	j := e.job
	c := &api.Completion{
		Namespace: j.Namespace, JobID: j.ID, ParentID: j.ParentID, JobVersion: j.Version, Meta: j.Meta, Annotation: j.Annotation,
		State: api.CompletionComplete, SubmittedAt: unixNano(j.SubmitTime), Tasks: []*api.CompletedTask{},
	}
	missing := false
	for _, g := range j.Groups {
		for i := range max(g.Size(), 0) {
			missing = e.instance(c, g, i) || missing
		}
	}
	switch {
	case j.Failure != nil:
		c.Failed, c.FailureReason = true, j.Failure.Reason
		c.EndedAt = later(c.EndedAt, unixNano(j.Failure.Time))
	case c.Failed:
	case missing && e.gone:
		c.FailureReason = "the job was removed"
	case missing && j.Stop:
		c.FailureReason = "the job was stopped"
	case missing:
		c.Failed, c.FailureReason = true, "not every instance was placed"
	}
	switch {
	case c.FailureReason == "":
	case (j.Stop || e.gone) && j.Failure == nil:
		c.State = api.CompletionCancelled
	default:
		c.State = api.CompletionFailed
	}
	if c.EndedAt.IsZero() {
		c.EndedAt = c.SubmittedAt
	}
	return c
}

// instance adds the result of one instance. It reports whether the instance did not do its
// work because it was never placed, or was stopped early.
func (e *ends) instance(c *api.Completion, g *api.Group, index int) (missing bool) {
	name := api.InstanceName(g.Name, index)
	a := e.last[place{g.Name, index}]
	if a == nil {
		c.Tasks = append(c.Tasks, &api.CompletedTask{Instance: name, Group: g.Name, Index: index, Failed: true, FailureReason: "it was never placed"})
		return true
	}
	c.Rejections = max(c.Rejections, rejectionsOf(a))
	failed, why := a.ClientStatus != api.AllocClientComplete, ""
	if failed {
		why = whyFailed(a)
	} else if a.IsServerTerminal() && !isSuccessful(a) {
		missing, why = true, cmp.Or(a.DesiredDescription, "it was stopped")
	}
	if failed && !c.Failed {
		c.Failed, c.FailureReason = true, name+": "+why
	}
	tasks := slices.Sorted(maps.Keys(a.TaskStates))
	if len(tasks) == 0 {
		c.Tasks = append(c.Tasks, &api.CompletedTask{
			Instance: name, Group: g.Name, Index: index, Allocation: a.ID, NodeID: a.NodeID, NodeName: a.NodeName,
			Failed: failed || missing, FailureReason: why,
		})
	}
	for _, task := range tasks {
		s := a.TaskStates[task]
		if s == nil {
			continue
		}
		is := &api.CompletedTask{
			Instance: name, Group: g.Name, Index: index, Task: task, Allocation: a.ID, NodeID: a.NodeID, NodeName: a.NodeName,
			Failed: s.Failed || failed && a.ClientStatus == api.AllocClientLost || missing, Restarts: s.Restarts,
			Result: s.Result, ExitCode: exitCode(s), StartedAt: s.StartedAt, FinishedAt: s.FinishedAt,
		}
		if is.Failed {
			is.FailureReason = why
		}
		e.addTask(c, is)
	}
	c.EndedAt = later(c.EndedAt, unixNano(a.ModifyTime))
	return missing
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// isSuccessful reports whether every task of a stopped allocation had finished its work
// before the stop.
func isSuccessful(a *api.Allocation) bool {
	for _, s := range a.TaskStates {
		if s == nil || !s.IsSuccessful() {
			return false
		}
		if code := exitCode(s); code == nil || *code != 0 {
			return false
		}
	}
	return len(a.TaskStates) > 0
}

// whyFailed describes why an allocation failed.
func whyFailed(a *api.Allocation) string {
	if why := a.Rejection(); why != "" {
		if n := rejectionsOf(a); n > 1 {
			return fmt.Sprintf("nodes refused %d times to run it; the last one: %s", n, why)
		}
		return "its node refused to run it: " + why
	}
	if a.Crashes != nil && a.Crashes.Reason != "" && a.ClientStatus == api.AllocClientFailed {
		return a.Crashes.Reason
	}
	if a.ClientStatus == api.AllocClientLost {
		return cmp.Or(a.DesiredDescription, a.ClientDescription, "its node was lost")
	}
	return cmp.Or(a.ClientDescription, "it failed")
}

// rejectionsOf counts the rejections that led to the allocation, and its own.
func rejectionsOf(a *api.Allocation) (n int) {
	if a.RescheduleTracker != nil {
		n = a.RescheduleTracker.Rejections
	}
	if a.Rejection() != "" {
		n++
	}
	return n
}

// exitCode returns the exit code of the task's last run, or nil if the task never exited
// by itself.
func exitCode(s *api.TaskState) *int {
	for _, e := range slices.Backward(s.Events) {
		if e.Type == api.EventTerminated {
			return &e.ExitCode
		}
	}
	return nil
}

// addTask adds the outcome of a task, with its result if the result fits.
func (e *ends) addTask(c *api.Completion, t *api.CompletedTask) {
	if e.size+len(t.Result) > api.MaxCallbackResults {
		t.Result = ""
		c.ResultsLeftOut++
	}
	e.size += len(t.Result)
	if c.StartedAt.IsZero() || !t.StartedAt.IsZero() && t.StartedAt.Before(c.StartedAt) {
		c.StartedAt = t.StartedAt
	}
	c.EndedAt = later(c.EndedAt, t.FinishedAt)
	c.Tasks = append(c.Tasks, t)
}
