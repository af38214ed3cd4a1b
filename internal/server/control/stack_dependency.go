// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/state"
)

// findDependencies notes in the job of a new stack what its tasks need to know about its
// dependencies. It leaves out those that no stack satisfies now.
func findDependencies(snap *state.Snapshot, s *api.Stack, job *api.Job) {
	for _, d := range job.Stack.Depends {
		x := dependencyIndex(snap, s.Namespace, d.Unit)
		d.Found = findDependency(snap, x.Resolve(s.Namespace, d.Unit, d.Wants()))
	}
}

func findDependency(snap *state.Snapshot, t lifecycle.Target) *api.FoundDependency {
	stack := t.Stack
	if t.Next != nil && (stack.Shape == api.ShapeExternal || t.Next.Shape != api.ShapeExternal) {
		stack = t.Next // an address outside of Reeve is only for callers that reach nothing inside
	}
	if stack == nil {
		return nil
	}
	if stack.Shape == api.ShapeExternal {
		return &api.FoundDependency{Address: stack.Address}
	}
	if job := snap.Job(stack.Namespace, stack.Name); job != nil {
		return job.FindDependency()
	}
	return &api.FoundDependency{}
}

// dependencyIndex indexes the stacks of one unit in a namespace and in those around it.
func dependencyIndex(snap *state.Snapshot, namespace, unit string) *lifecycle.Index {
	var in lifecycle.Input
	for ; namespace != ""; namespace = api.ParentNamespace(namespace) {
		for s := range snap.StacksOfUnit(namespace, unit) {
			if s.Status != api.StackTerminated {
				in.Stacks = append(in.Stacks, s)
			}
		}
		if u := snap.Unit(namespace, unit); u != nil {
			in.Units = append(in.Units, u)
		}
		for s := range snap.ShiftsOfUnit(namespace, unit) {
			if s.IsActive() {
				in.Shifts = append(in.Shifts, s)
			}
		}
	}
	if u := snap.Unit(api.AnyNamespace, unit); u != nil {
		in.Units = append(in.Units, u)
	}
	return lifecycle.NewIndex(in)
}
