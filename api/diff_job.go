// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"reflect"
	"slices"
)

// serverFields are written by the server, so they do not reflect a user's change.
var serverFields = map[string]bool{
	"Status": true, "StatusDescription": true, "Stable": true, "Version": true, "SubmitTime": true,
	"CreateIndex": true, "ModifyIndex": true, "JobModifyIndex": true, "VersionTag": true, "NomadTokenID": true,
	"TaskGroups": true, "Purge": true, "Tasks": true, "Failure": true, "Held": true, "HeldReason": true,
}

// DiffJobs compares two canonicalized jobs field by field. Either may be nil. If
// contextual is set, the result also names unchanged groups and tasks, and contains the
// unchanged fields of changed blocks. Direct fields of a job, group or task appear only if
// they changed.
func DiffJobs(old, new *Job, contextual bool) *JobDiff {
	d := differ{contextual}
	result := &JobDiff{Type: kindOf(old == nil, new == nil)}
	if new != nil {
		result.ID = new.ID
	} else if old != nil {
		result.ID = old.ID
	}
	result.Fields, result.Objects = d.changes(valueOf(old), valueOf(new), serverFields)
	result.Groups = d.groups(groupsOf(old), groupsOf(new))
	if result.Type == DiffEdited && !changed(result.Fields, result.Objects) &&
		!slices.ContainsFunc(result.Groups, func(g *GroupDiff) bool { return g.Type != DiffNone }) {
		result.Type = DiffNone
	}
	return result
}

func groupsOf(j *Job) []*Group {
	if j == nil {
		return nil
	}
	return j.Groups
}

func (d differ) groups(old, new []*Group) []*GroupDiff {
	var diffs []*GroupDiff
	for _, pair := range pairByName(old, new, func(g *Group) string { return g.Name }) {
		g := &GroupDiff{Type: kindOf(pair.old == nil, pair.new == nil), Name: pair.name}
		g.Fields, g.Objects = d.changes(valueOf(pair.old), valueOf(pair.new), serverFields)
		var oldTasks, newTasks []*Task
		if pair.old != nil {
			oldTasks = pair.old.Tasks
		}
		if pair.new != nil {
			newTasks = pair.new.Tasks
		}
		g.Tasks = d.tasks(oldTasks, newTasks)
		if g.Type == DiffEdited && !changed(g.Fields, g.Objects) &&
			!slices.ContainsFunc(g.Tasks, func(t *TaskDiff) bool { return t.Type != DiffNone }) {
			g.Type = DiffNone
		}
		if g.Type != DiffNone || d.contextual {
			diffs = append(diffs, g)
		}
	}
	return diffs
}

func (d differ) tasks(old, new []*Task) []*TaskDiff {
	var diffs []*TaskDiff
	for _, pair := range pairByName(old, new, func(t *Task) string { return t.Name }) {
		t := &TaskDiff{Type: kindOf(pair.old == nil, pair.new == nil), Name: pair.name}
		t.Fields, t.Objects = d.changes(valueOf(pair.old), valueOf(pair.new), nil)
		if t.Type == DiffEdited && !changed(t.Fields, t.Objects) {
			t.Type = DiffNone
		}
		if t.Type != DiffNone || d.contextual {
			diffs = append(diffs, t)
		}
	}
	return diffs
}

// A pair is one named thing before and after the change; nil where it is missing.
type pair[T any] struct {
	name     string
	old, new *T
}

func pairByName[T any](old, new []*T, name func(*T) string) []pair[T] {
	var pairs []pair[T]
	for _, o := range old {
		pairs = append(pairs, pair[T]{name: name(o), old: o})
	}
	for _, n := range new {
		i := slices.IndexFunc(pairs, func(p pair[T]) bool { return p.name == name(n) && p.new == nil })
		if i < 0 {
			pairs = append(pairs, pair[T]{name: name(n), new: n})
			continue
		}
		pairs[i].new = n
	}
	slices.SortStableFunc(pairs, func(a, b pair[T]) int { return cmp.Compare(a.name, b.name) })
	return pairs
}

func valueOf[T any](p *T) reflect.Value {
	if p == nil {
		return reflect.Value{}
	}
	return reflect.ValueOf(p).Elem()
}

func kindOf(added, deleted bool) string {
	switch {
	case added && deleted:
		return DiffNone
	case added:
		return DiffAdded
	case deleted:
		return DiffDeleted
	}
	return DiffEdited
}

func changed(fields []*FieldDiff, objects []*ObjectDiff) bool {
	return slices.ContainsFunc(fields, func(f *FieldDiff) bool { return f.Type != DiffNone }) ||
		slices.ContainsFunc(objects, func(o *ObjectDiff) bool { return o.Type != DiffNone })
}
