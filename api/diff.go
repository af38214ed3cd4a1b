// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// Types of differences.
const (
	DiffNone    = "None"
	DiffAdded   = "Added"
	DiffDeleted = "Deleted"
	DiffEdited  = "Edited"
)

// JobDiff is what changed between two jobs, as a tree. Names in it are the JSON
// keys.
type JobDiff struct {
	Type    string
	ID      string
	Fields  []*FieldDiff
	Objects []*ObjectDiff
	Groups  []*GroupDiff `json:"TaskGroups"`
}

// GroupDiff is what changed in one group.
type GroupDiff struct {
	Type    string
	Name    string
	Fields  []*FieldDiff
	Objects []*ObjectDiff
	Tasks   []*TaskDiff
	Updates map[string]uint64 // by what happens ("create", "destroy", "in-place update"...): instances
}

// TaskDiff is what changed in one task.
type TaskDiff struct {
	Type        string
	Name        string
	Fields      []*FieldDiff
	Objects     []*ObjectDiff
	Annotations []string // "forces create/destroy update", "forces in-place update"
}

// FieldDiff is one value that changed.
type FieldDiff struct {
	Type        string
	Name        string
	Old, New    string
	Annotations []string
}

// ObjectDiff is one block that changed.
type ObjectDiff struct {
	Type    string
	Name    string
	Fields  []*FieldDiff
	Objects []*ObjectDiff
}
