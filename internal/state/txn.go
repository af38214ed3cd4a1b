// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

// A txn applies one log entry. Its methods are the building blocks of commands. Each keeps
// all indexes, counts and the list of changes consistent.
type txn struct {
	*content
	gen      uint64
	index    uint64 // index of the entry
	cause    string // name of the command being applied
	now      int64  // latest time in the commands; Unix nanoseconds
	changes  []Change
	touched  tableSet
	replaced bool       // a restore replaced the content
	dirty    []dirtyJob // jobs whose derived fields may have changed

	// Last requested job, often the next one too.
	lastJob  api.NamespacedID
	lastSlot uint32
	lastOK   bool
}

// tableSet is a set of tables.
type tableSet uint64

func (s tableSet) has(t Table) bool { return s&(1<<t) != 0 }

// touch records that a table changed.
func (t *txn) touch(table Table) {
	t.touched |= 1 << table
	t.indexes[table] = t.index
}

// emit records the change of an object.
func (t *txn) emit(table Table, op Op, old, new any) {
	t.touch(table)
	t.changes = append(t.changes, Change{Table: table, Op: op, Old: old, New: new, Cause: t.cause})
}

// settle derives the fields that depend on the entire entry.
func (t *txn) settle() {
	for i := 0; i < len(t.dirty); i++ { // a child's status dirties its parent
		t.cause = t.dirty[i].cause
		t.deriveJob(t.dirty[i].slot)
	}
}
