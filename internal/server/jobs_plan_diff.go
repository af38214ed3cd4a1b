// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/update"
)

// What a diff says of a task that changed.
const (
	forcesCreate  = "forces create"
	forcesDestroy = "forces destroy"
	forcesReplace = "forces create/destroy update"
	forcesInPlace = "forces in-place update"
)

// annotate writes into a diff what the change would do: to each group's
// instances, and because of which tasks.
func annotate(d *api.JobDiff, old, new *api.Job, updates map[string]*api.DesiredUpdates) {
	for _, g := range d.Groups {
		g.Updates = updateCounts(updates[g.Name])
		for _, t := range g.Tasks {
			if words := taskAnnotation(t, g.Name, old, new); words != "" {
				t.Annotations = append(t.Annotations, words)
			}
		}
	}
}

// updateCounts are a group's updates by what happens; those that do not happen
// are left out.
func updateCounts(u *api.DesiredUpdates) map[string]uint64 {
	if u == nil {
		return nil
	}
	counts := map[string]uint64{
		"ignore": u.Ignore, "create": u.Place, "destroy": u.Stop, "migrate": u.Migrate, "canary": u.Canary,
		"in-place update": u.InPlaceUpdate, "create/destroy update": u.DestructiveUpdate,
	}
	for what, n := range counts {
		if n == 0 {
			delete(counts, what)
		}
	}
	return counts
}

// taskAnnotation says what one task's change does to the instances.
func taskAnnotation(d *api.TaskDiff, group string, old, new *api.Job) string {
	switch d.Type {
	case api.DiffAdded:
		return forcesCreate
	case api.DiffDeleted:
		return forcesDestroy
	case api.DiffEdited:
	default:
		return ""
	}
	before, after := taskOf(old, group, d.Name), taskOf(new, group, d.Name)
	if before == nil || after == nil {
		return ""
	}
	a, b := *old.Group(group), *old.Group(group) // alike in everything but the task
	a.Tasks, b.Tasks = []*api.Task{before}, []*api.Task{after}
	if update.Destructive(old, &a, old, &b) {
		return forcesReplace
	}
	return forcesInPlace
}

func taskOf(job *api.Job, group, task string) *api.Task {
	if job == nil || job.Group(group) == nil {
		return nil
	}
	return job.Group(group).Task(task)
}
