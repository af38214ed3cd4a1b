// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// stacks holds every stack that was not removed a long time ago.
var stacks = declare(noun[api.Stack]{
	name: "stacks", singular: "stack", verb: "Stack", frame: 14,
	key:    func(s *api.Stack) string { return jobName(s.Namespace, s.Name) },
	stamp:  func(s *api.Stack) (create, modify *uint64) { return &s.CreateIndex, &s.ModifyIndex },
	groups: stackGroups,
	decode: decodeStack,
	topic:  api.TopicStack,
	eventKey: func(s *api.Stack) EventKey {
		return EventKey{Key: s.Name, Namespace: s.Namespace, FilterKeys: []string{s.Unit}}
	},
	eventType: func(op Op, s *api.Stack) string {
		if op == Delete {
			return api.EventTypeStackForgotten
		}
		return api.EventTypeStackState
	},
	alsoWrites: func(s *api.Stack) []Object {
		if s.Status != api.StackReady {
			return nil
		}
		return []Object{unitObject(s.Namespace, s.Unit)} // it may become the first target
	},
})

// stackGroups returns the groups of a stack that is not terminated: its unit, and the units that it
// declares to depend on, in any namespace.
func stackGroups(s *api.Stack) []string {
	if s.Status == api.StackTerminated {
		return nil
	}
	groups := []string{namesakesOf(s.Unit)}
	if s.Spec == nil {
		return groups
	}
	for _, dep := range s.Spec.Depends {
		if group := dependentsOf(dep.Unit); !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
	}
	return groups
}

func namesakesOf(unit string) string  { return "unit/" + unit }
func dependentsOf(unit string) string { return "depends/" + unit }

// What follows a change reads the noun, so it cannot be part of the noun's own declaration.
func init() { stacks.changed = stackChanged }

// stackChanged writes the audit record of a new status, chooses the first target of a major
// version, and deletes what belongs to a deleted stack.
func stackChanged(t *txn, old, new *api.Stack) {
	if new == nil {
		stackJobs.delete(t, stacks.key(old))
		t.deleteAudit(old.Namespace, api.AuditStack, old.Name)
		return
	}
	if old != nil && old.Status == new.Status {
		if old.RemovalWaits.IsZero() && !new.RemovalWaits.IsZero() {
			t.audit(&api.AuditRecord{
				Time: new.RemovalWaits, Namespace: new.Namespace, Kind: api.AuditStack, Object: new.Name, Unit: new.Unit,
				Action: "waits", Reason: new.StatusText(),
			})
		}
		if o := new.Order; o != nil && (old.Order == nil || old.Order.Verb != o.Verb || !old.Order.Time.Equal(o.Time)) {
			t.audit(&api.AuditRecord{
				Time: o.Time, Namespace: new.Namespace, Kind: api.AuditStack, Object: new.Name, Unit: new.Unit,
				Action: o.Verb, By: o.By, Reason: o.Reason,
			})
		}
		return
	}
	t.audit(&api.AuditRecord{
		Time: new.StatusSince, Namespace: new.Namespace, Kind: api.AuditStack, Object: new.Name, Unit: new.Unit,
		Action: new.Status, By: new.StatusBy, Reason: new.StatusText(),
	})
	if new.Status == api.StackReady {
		t.setFirstTarget(new)
	}
}

// TableStacks holds *api.Stack.
var TableStacks = stacks.table

// stackJobs holds the submitted job of each stack, under the stack's name.
var stackJobs = declare(noun[api.StackJob]{
	name: "stack jobs", singular: "job of a stack", verb: "StackJob", frame: 15,
	key:   func(j *api.StackJob) string { return jobName(j.Namespace, j.Name) },
	stamp: func(j *api.StackJob) (create, modify *uint64) { return &j.CreateIndex, &j.ModifyIndex },
})

// Stack returns the stack of that name, nil if it does not exist.
func (c *content) Stack(namespace, name string) *api.Stack {
	return stacks.find(c, jobName(namespace, name))
}

// Stacks yields the stacks of a namespace, or of all if it is "*", ordered by namespace,
// then name.
func (c *content) Stacks(namespace string) iter.Seq[*api.Stack] {
	if namespace == "*" {
		return stacks.all(c, "")
	}
	return stacks.all(c, jobName(namespace, ""))
}

// StacksOfUnit yields the stacks of a unit in a namespace, ordered by name.
func (c *content) StacksOfUnit(namespace, unit string) iter.Seq[*api.Stack] {
	return stacks.all(c, jobName(namespace, unit+"--"))
}

// Namesakes yields the stacks of a unit in all namespaces that are not terminated, ordered by
// namespace, then name.
func (c *content) Namesakes(unit string) iter.Seq[*api.Stack] {
	return stacks.ofGroup(c, namesakesOf(unit))
}

// Dependents yields the stacks in all namespaces that are not terminated and declare that they
// depend on a unit of that name, ordered by namespace, then name.
func (c *content) Dependents(unit string) iter.Seq[*api.Stack] {
	return stacks.ofGroup(c, dependentsOf(unit))
}

// StackJob returns the submitted job of a stack, nil if it is not kept.
func (c *content) StackJob(namespace, name string) *api.Job {
	if j := stackJobs.find(c, jobName(namespace, name)); j != nil {
		return j.Job
	}
	return nil
}

// PutStack returns the command that stores a changed stack, unless it was changed since it was read.
func PutStack(s *api.Stack) Command { return putStack(s) }

func putStack(s *api.Stack) *putObject[api.Stack] {
	modified := s.ModifyIndex
	return &putObject[api.Stack]{stacks, s, &modified}
}

// ForgetStack returns the command that deletes a stack with its job and its audit
// records, unless it was changed since it was read.
func ForgetStack(s *api.Stack) Command {
	modified := s.ModifyIndex
	return &deleteObject[api.Stack]{stacks, stacks.key(s), &modified}
}

// LifecycleIndex returns the index of the last change that can change what a stack
// depends on or who depends on it.
func (c *content) LifecycleIndex() uint64 {
	return max(c.indexes[TableStacks], c.indexes[TableUnits], c.indexes[TableShifts])
}

// DeployStacks stores new stacks with their jobs, all or none. It is rejected if something that it was
// checked against has changed since Index.
type DeployStacks struct {
	Index uint64
	// Units lists the units that it was checked against. If the list is empty, any change of
	// stacks, units or shifts rejects the command.
	Units  []api.NamespacedID `json:",omitempty"`
	Stacks []*api.Stack
	Jobs   []*api.Job // one per stack; nil for a stack outside of Reeve
}

// Name implements Command.
func (c *DeployStacks) Name() string { return "DeployStacks" }

func (c *DeployStacks) apply(t *txn) error {
	if len(c.Stacks) == 0 || len(c.Stacks) != len(c.Jobs) {
		return api.Errorf(api.CodeInvalid, "%d stacks and %d jobs to deploy: must be the same number, and at least 1", len(c.Stacks), len(c.Jobs))
	}
	if index := t.LifecycleIndex(); index > c.Index {
		if err := c.conflict(t, index); err != nil {
			return err
		}
	}
	for i, s := range c.Stacks {
		if s == nil || c.Jobs[i] == nil && !s.IsExternal() {
			return api.Errorf(api.CodeInvalid, "stack %d to deploy is missing", i+1)
		}
		if t.Stack(s.Namespace, s.Name) != nil || slices.ContainsFunc(c.Stacks[:i], func(other *api.Stack) bool { return other.Key() == s.Key() }) {
			return api.Errorf(api.CodeConflict, "stack %s exists already", s.Name)
		}
		if s.IsExternal() {
			if err := t.CheckExternal(s); err != nil {
				return err
			}
		}
	}
	for i, s := range c.Stacks {
		stored := *s
		stacks.put(t, &stored)
		if c.Jobs[i] != nil {
			stackJobs.put(t, &api.StackJob{Namespace: s.Namespace, Name: s.Name, Job: c.Jobs[i]})
		}
	}
	return nil
}

// conflict returns an error if something that the deployment was checked against has changed.
func (c *DeployStacks) conflict(t *txn, index uint64) error {
	if len(c.Units) == 0 {
		return api.Errorf(api.CodeConflict, "stacks changed at index %d, after their dependencies were resolved at %d: try again", index, c.Index)
	}
	if unit := t.changedUnit(c.Units, c.Index); unit != "" {
		return api.Errorf(api.CodeConflict, "unit %s changed after the deployment was checked at index %d: try again", unit, c.Index)
	}
	if stack := t.changedExposure(c.Stacks, c.Index); stack != "" {
		return api.Errorf(api.CodeConflict, "stack %s with the same host changed after the deployment was checked at index %d: try again", stack, c.Index)
	}
	return nil
}

// CheckExternal rejects a stack outside of Reeve whose namespace does not exist, whose name a job
// has, or whose hosts others route.
func (c *content) CheckExternal(s *api.Stack) error {
	if c.Namespace(s.Namespace) == nil {
		return api.Errorf(api.CodeInvalid, "namespace %q does not exist; create it with: reeve namespace apply %s", api.Printable(s.Namespace, 64), api.Printable(s.Namespace, 64))
	}
	if c.Job(s.Namespace, s.Name) != nil {
		return api.Errorf(api.CodeConflict, "job %q exists already: a stack outside of Reeve cannot have its name", s.Name)
	}
	err := c.CheckRoutes(s.ExternalJob())
	var e *api.Error
	if errors.As(err, &e) {
		e.Message = "the stack exposes hosts that others route: choose other hosts, or stop those jobs or stacks first"
		for i, text := range e.Detail {
			_, held, _ := strings.Cut(text, ": ")
			e.Detail[i] = "stack, expose: " + held
		}
	}
	return err
}
