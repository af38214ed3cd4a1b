// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

// A Snapshot is the state as it was after one log entry. Objects that it
// returns are shared and must not be changed.
type Snapshot struct {
	content
}

// Index is the index of the last entry that the snapshot holds.
func (v *Snapshot) Index() uint64 { return v.index }

// TableIndex is the index of the entry that last changed any of the tables; of
// all tables if none is named. Deleting moves it too.
func (v *Snapshot) TableIndex(tables ...Table) uint64 {
	var newest uint64
	if len(tables) == 0 {
		for _, index := range v.indexes {
			newest = max(newest, index)
		}
	}
	for _, t := range tables {
		newest = max(newest, v.indexes[t])
	}
	return newest
}
