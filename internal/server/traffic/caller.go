// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// callerOf returns the allocation that a router names as a caller; nil without one. A router
// knows only the allocations of its own node.
func callerOf(snap *state.Snapshot, routerNode, id string) *api.Allocation {
	if id == "" || routerNode == "" {
		return nil
	}
	if a := snap.Allocation(id); a != nil && a.NodeID == routerNode {
		return a
	}
	return nil
}

// jobOf returns the job of an allocation, and of a child the job that started it: children come
// and go, and a stack's children call on its behalf.
func jobOf(a *api.Allocation) api.NamespacedID {
	id := a.JobID
	if a.Job != nil {
		id = cmp.Or(a.Job.ParentID, id)
	}
	return api.NamespacedID{Namespace: a.Namespace, ID: id}
}

// nameCaller names an allocation as a caller of a stack: by its own stack or by its job, so that
// the instances of a job are one caller.
func nameCaller(snap *state.Snapshot, a *api.Allocation, of *api.Stack) string {
	job := jobOf(a)
	name := job.ID
	if snap.Stack(job.Namespace, job.ID) == nil {
		name = "job " + name
	}
	if job.Namespace != of.Namespace {
		name += fmt.Sprintf(" of namespace %s", job.Namespace)
	}
	return name
}

// declaresCall reports whether the stack of an allocation is live and declares that it calls the unit and major
// version of another stack.
func declaresCall(snap *state.Snapshot, a *api.Allocation, of *api.Stack) bool {
	job := jobOf(a)
	if job == of.Key() {
		return false
	}
	caller := snap.Stack(job.Namespace, job.ID)
	return caller != nil && caller.IsLive() && caller.Spec != nil && slices.ContainsFunc(caller.Spec.Depends, func(d *api.StackDependency) bool {
		return d.Unit == of.Unit && of.Version.Satisfies(d.Wants())
	})
}
