// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/raft"
)

// The terms of the entries are a tenth of their index.
func TestRebase(t *testing.T) {
	for name, tt := range map[string]struct {
		stored      []*raft.Log
		index, term uint64
		want        []*raft.Log
	}{
		"of the same history":                 {entries(40, 67, 200), 65, 6, entries(40, 67, 200)},
		"its last entry":                      {entries(40, 65, 200), 65, 6, entries(40, 65, 200)},
		"it goes on behind the snapshot":      {entries(66, 67, 10), 65, 5, entries(66, 67, 10)},
		"it ends before the snapshot":         {entries(1, 64, 200), 65, 6, nil},
		"of another history":                  {entries(40, 80, 200), 65, 7, entries(66, 80, 200)},
		"its last entry is of another":        {entries(40, 65, 200), 65, 7, nil},
		"it is empty":                         {nil, 65, 6, nil},
		"there is no snapshot":                {entries(1, 3, 10), 0, 0, entries(1, 3, 10)},
		"there is neither snapshot nor entry": {nil, 0, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := open(t, dir)
			if err := l.StoreLogs(tt.stored); err != nil {
				t.Fatal(err)
			}
			// Twice, as when the snapshot is installed again; then after a restart.
			for range 2 {
				if err := l.Rebase(tt.index, tt.term); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, contents(t, l)); diff != "" {
					t.Errorf("the log (-want +got):\n%s", diff)
				}
			}
			var e raft.Log
			if err := l.GetLog(tt.index, &e); tt.index > 0 && (err != nil || e.Index != tt.index || e.Term != tt.term) {
				t.Errorf("the snapshot's last entry is %+v, %v, want term %d", e, err, tt.term)
			}
			l.Close()
			l = open(t, dir)
			if err := l.Rebase(tt.index, tt.term); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, contents(t, l)); diff != "" {
				t.Errorf("after a restart (-want +got):\n%s", diff)
			}
			next := tt.index + 1
			if n := len(tt.want); n > 0 {
				next = tt.want[n-1].Index + 1
			}
			if err := l.StoreLogs(entries(next, next+1, 10)); err != nil {
				t.Errorf("it does not go on: %v", err)
			}
		})
	}
}

func TestRebaseOnAnOlderSnapshotChangesNothing(t *testing.T) {
	l := open(t, t.TempDir())
	for _, index := range []uint64{65, 20} {
		if err := l.Rebase(index, 1); err != nil {
			t.Fatal(err)
		}
	}
	var e raft.Log
	if err := l.GetLog(20, &e); !errors.Is(err, raft.ErrLogNotFound) {
		t.Errorf("entry 20 is %+v, %v", e, err)
	}
	if err := l.GetLog(65, &e); err != nil {
		t.Error(err)
	}
}

// TestCrashWhileAnotherHistoryIsDropped leaves any number of the segments, the
// newest of which are removed first.
func TestCrashWhileAnotherHistoryIsDropped(t *testing.T) {
	for left := 0; ; left++ {
		dir := t.TempDir()
		l := open(t, dir)
		if err := l.StoreLogs(entries(1, 30, 500)); err != nil {
			t.Fatal(err)
		}
		if err := l.StoreLogs(entries(31, 60, 500)); err != nil {
			t.Fatal(err)
		}
		if err := l.StoreLogs(entries(61, 80, 500)); err != nil {
			t.Fatal(err)
		}
		segments := slices.Clone(l.segments)
		l.Close()
		if left >= len(segments) {
			break
		}
		for _, s := range segments[left:] {
			if err := os.Remove(s.file.Name()); err != nil {
				t.Fatal(err)
			}
		}
		l = open(t, dir)
		if err := l.Rebase(45, 9); err != nil {
			t.Fatal(err)
		}
		if first, _ := l.FirstIndex(); first != 0 && first != 46 {
			t.Errorf("with %d of %d segments the log begins with entry %d", left, len(segments), first)
		}
	}
}
