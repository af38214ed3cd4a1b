// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// A Topology describes all nodes by columns. Row i of each column is about the same node;
// nodes are in the order of their ids.
type Topology struct {
	ID          []string
	Name        []string
	Datacenter  TextColumn
	Zone        TextColumn // by the zone attribute of the scheduler's configuration
	NodeClass   TextColumn
	NodePool    TextColumn
	Status      TextColumn
	Eligibility TextColumn
	Draining    []bool
	Silent      []bool  // reports whether a node is silent but not marked down; see Node.SilentSince
	CPU         []int64 // capacity in MHz
	CPUUsed     []int64
	MemoryMB    []int64 // capacity
	MemoryUsed  []int64 // in MB
	DiskMB      []int64 // capacity
	DiskUsed    []int64 // in MB
	Allocations []int   // number of allocations that hold resources, in all namespaces
	JobCount    []int   `json:",omitempty"` // number of those of the job in the request; nil without one
}

// A TextColumn is a column with few distinct values: row i is Values[Codes[i]].
type TextColumn struct {
	Values []string
	Codes  []int
}

// At returns the value of a row.
func (t *TextColumn) At(row int) string { return t.Values[t.Codes[row]] }

// Add appends a row. The caller keeps codes, the code of each value, for the column's
// further rows.
func (t *TextColumn) Add(value string, codes map[string]int) {
	code, known := codes[value]
	if !known {
		code = len(t.Values)
		codes[value] = code
		t.Values = append(t.Values, value)
	}
	t.Codes = append(t.Codes, code)
}
