// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

func getJobActions(c *call, v *state.Snapshot) ([]*api.JobAction, uint64, error) {
	job := v.Job(c.namespace, c.id())
	if job == nil {
		return nil, v.TableIndex(c.route.Tables...), api.Errorf(api.CodeNotFound, "job %s not found", c.jobName(c.id()))
	}
	return actionsOf(job), job.ModifyIndex, nil
}

// actionsOf lists the actions of a job, by group, task and name.
func actionsOf(job *api.Job) []*api.JobAction {
	all := []*api.JobAction{}
	for _, g := range job.Groups {
		for _, t := range g.Tasks {
			for _, a := range t.Actions {
				all = append(all, &api.JobAction{Name: a.Name, Command: a.Command, Args: a.Args, JobID: job.ID, TaskGroupName: g.Name, TaskName: t.Name})
			}
		}
	}
	slices.SortFunc(all, func(a, b *api.JobAction) int {
		return slices.Compare([]string{a.TaskGroupName, a.TaskName, a.Name}, []string{b.TaskGroupName, b.TaskName, b.Name})
	})
	return all
}

// runAction runs an action of a job: it chooses the allocation and the task, and sends the request on as that
// of a command in a task. The node knows the command, so that a caller cannot change it.
func runAction(c *call) error {
	asked := api.JobAction{Name: c.query.Get("action"), TaskGroupName: c.query.Get("group"), TaskName: c.query.Get("task")}
	if asked.Name == "" {
		return api.Errorf(api.CodeInvalid, "action: name the action; GET /v1/job/%s/actions lists those of the job", c.id())
	}
	a, task, err := c.findAction(c.Server.Store().Snapshot(), asked, c.query.Get("allocID"))
	if err != nil {
		return err
	}
	query := url.Values{"task": {task}, "action": {asked.Name}}
	if c.query.Has("tty") {
		query.Set("tty", c.query.Get("tty"))
	}
	other, u := *c.r, *c.r.URL
	u.Path, u.RawPath, u.RawQuery = "/v1/client/allocation/"+a.ID+"/exec", "", query.Encode()
	other.URL = &u
	other.SetPathValue("alloc", a.ID)
	other.Form, other.PostForm = nil, nil
	c.r = &other
	return serveNode(c)
}

// findAction returns the allocation and the task in which an action runs. Without an allocation, it is a
// running one of the job, by chance.
func (c *call) findAction(v *state.Snapshot, asked api.JobAction, alloc string) (*api.Allocation, string, error) {
	if alloc != "" {
		a := v.Allocation(alloc)
		if a == nil || a.Namespace != c.namespace || a.JobID != c.id() || a.Job == nil {
			return nil, "", api.Errorf(api.CodeNotFound, "allocation %q of job %s not found", alloc, c.jobName(c.id()))
		}
		if asked.TaskGroupName != "" && asked.TaskGroupName != a.Group {
			return nil, "", api.Errorf(api.CodeInvalid, "allocation %s is of group %q, not %q: leave out the group", api.ShortID(a.ID), a.Group, asked.TaskGroupName)
		}
		asked.TaskGroupName = a.Group
		task, err := taskOfAction(a.Job, asked)
		return a, task, err
	}
	job := v.Job(c.namespace, c.id())
	if job == nil {
		return nil, "", api.Errorf(api.CodeNotFound, "job %s not found", c.jobName(c.id()))
	}
	if _, err := taskOfAction(job, asked); err != nil {
		return nil, "", err
	}
	var running []*api.Allocation
	for a := range v.AllocationsByJob(c.namespace, c.id()) {
		if a.ClientStatus != api.AllocClientRunning || a.DesiredStatus != api.AllocDesiredRun || a.Job == nil {
			continue
		}
		of := asked
		if of.TaskGroupName == "" {
			of.TaskGroupName = a.Group
		}
		if _, err := taskOfAction(a.Job, of); err == nil && a.Group == of.TaskGroupName {
			running = append(running, a)
		}
	}
	if len(running) == 0 {
		return nil, "", api.Errorf(api.CodeConflict, "no running allocation of job %s has action %q: wait until one runs, as in `reeve job status`", c.jobName(c.id()), asked.Name)
	}
	a := running[rand.N(len(running))]
	asked.TaskGroupName = a.Group
	task, err := taskOfAction(a.Job, asked)
	return a, task, err
}

// taskOfAction returns the one task that has an action, in the named group and task if they are named.
func taskOfAction(job *api.Job, asked api.JobAction) (string, error) {
	var found []*api.JobAction
	var names []string
	for _, a := range actionsOf(job) {
		names = append(names, fmt.Sprintf("%q of task %q in group %q", a.Name, a.TaskName, a.TaskGroupName))
		if a.Name == asked.Name && (asked.TaskGroupName == "" || a.TaskGroupName == asked.TaskGroupName) && (asked.TaskName == "" || a.TaskName == asked.TaskName) {
			found = append(found, a)
		}
	}
	switch {
	case len(names) == 0:
		return "", api.Errorf(api.CodeNotFound, "job %q has no actions: add an action block to a task", job.ID)
	case len(found) == 0:
		return "", api.Errorf(api.CodeNotFound, "job %q has no such action %s; its actions are %s", job.ID, describeAction(asked), strings.Join(names[:min(len(names), 20)], ", "))
	case len(found) > 1:
		return "", api.Errorf(api.CodeInvalid, "%d tasks of job %q have action %q: name the group and the task", len(found), job.ID, asked.Name)
	}
	return found[0].TaskName, nil
}

// describeAction names an action as the caller asked for it.
func describeAction(a api.JobAction) string {
	text := fmt.Sprintf("%.128q", a.Name)
	if a.TaskName != "" {
		text += fmt.Sprintf(" of task %.128q", a.TaskName)
	}
	if a.TaskGroupName != "" {
		text += fmt.Sprintf(" in group %.128q", a.TaskGroupName)
	}
	return text
}
