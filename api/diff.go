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

// A JobDiff is the tree of differences between two jobs. Its names are the JSON keys.
type JobDiff struct {
	Type    string
	ID      string
	Fields  []*FieldDiff
	Objects []*ObjectDiff
	Groups  []*GroupDiff `json:"TaskGroups"`
}

// A GroupDiff holds the changes in one group.
type GroupDiff struct {
	Type    string
	Name    string
	Fields  []*FieldDiff
	Objects []*ObjectDiff
	Tasks   []*TaskDiff
	Updates map[string]uint64 // number of instances by action ("create", "destroy", "in-place update"...)
}

// A TaskDiff holds the changes in one task.
type TaskDiff struct {
	Type        string
	Name        string
	Fields      []*FieldDiff
	Objects     []*ObjectDiff
	Annotations []string // "forces create/destroy update", "forces in-place update"
}

// A FieldDiff is one changed value.
type FieldDiff struct {
	Type        string
	Name        string
	Old, New    string
	Annotations []string
}

// An ObjectDiff is one changed block.
type ObjectDiff struct {
	Type    string
	Name    string
	Fields  []*FieldDiff
	Objects []*ObjectDiff
}
