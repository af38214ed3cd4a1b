// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

// A Snapshot is the state after one log entry. The objects that it returns are shared and
// must not be modified.
type Snapshot struct {
	content
}

// Index returns the index of the last entry in the snapshot.
func (v *Snapshot) Index() uint64 { return v.index }

// TableIndex returns the index of the last entry that changed any of the tables, or any
// table at all if none is named. Deletions count as changes.
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
