// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A follower that receives a snapshot must forget every object that the
// snapshot does not hold, also of tables that are empty in it.
func TestRestoreForgetsWhatTheSnapshotLacks(t *testing.T) {
	var empty bytes.Buffer
	if _, err := New().Snapshot().WriteTo(&empty); err != nil {
		t.Fatal(err)
	}
	s := New()
	for i, c := range every() {
		s.Apply(uint64(i+1), []Command{c})
	}
	if err := s.Restore(&empty); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(dumpOf(New().Snapshot()), dumpOf(s.Snapshot())); diff != "" {
		t.Errorf("state after restoring an empty snapshot, want(-) got(+):\n%s", diff)
	}
}
