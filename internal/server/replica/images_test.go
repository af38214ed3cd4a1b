// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// imaged makes a directory with two snapshots and jobs in the log behind the
// newest, and returns the directory of that.
func imaged(t *testing.T) (dir, snapshot string) {
	t.Helper()
	dir = t.TempDir()
	r, _ := start(t, Config{Dir: dir, TrailingEntries: 4})
	for i := range 30 {
		if _, err := r.Propose(context.Background(), register(fmt.Sprint("job-", i))); err != nil {
			t.Fatal(err)
		}
		if i == 10 || i == 20 {
			if err := r.Snapshot(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "snapshots", "*-*-*"))
	if err != nil || len(found) != 2 {
		t.Fatalf("snapshots: %v, %v", found, err)
	}
	return dir, found[1]
}

// TestEveryByteOfASnapshotCounts flips one bit after the other of what describes
// the newest snapshot, and some of its state.
func TestEveryByteOfASnapshotCounts(t *testing.T) {
	dir, snapshot := imaged(t)
	for _, name := range []string{"meta.json", "SHA256SUMS", "state.bin"} {
		path := filepath.Join(snapshot, name)
		original, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(original); i += max(1, len(original)/60) {
			damaged := append([]byte(nil), original...)
			damaged[i] ^= 1 << (i % 8)
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			refused(t, Config{Dir: dir}, snapshot, "damaged", "put it back from a copy")
		}
		for _, lose := range []func() error{
			func() error { return os.Truncate(path, int64(len(original)/2)) },
			func() error { return os.Truncate(path, 0) },
		} {
			if err := lose(); err != nil {
				t.Fatal(err)
			}
			refused(t, Config{Dir: dir}, snapshot, "damaged")
		}
		if err := os.WriteFile(path, original, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, store := start(t, Config{Dir: dir})
	for i := range 30 {
		if !has(store, fmt.Sprint("job-", i)) {
			t.Errorf("job-%d is gone", i)
		}
	}
}

// reindexed has the newest snapshot, made to look as an earlier version wrote it,
// say another index everywhere but in its state.
func reindexed(t *testing.T, snapshot string, by int) string {
	t.Helper()
	if err := os.Remove(filepath.Join(snapshot, "SHA256SUMS")); err != nil {
		t.Fatal(err)
	}
	var term, index, ms int
	if _, err := fmt.Sscanf(filepath.Base(snapshot), "%d-%d-%d", &term, &index, &ms); err != nil {
		t.Fatal(err)
	}
	edit(t, filepath.Join(snapshot, "meta.json"), func(b []byte) []byte {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		m["Index"] = json.RawMessage(fmt.Sprint(index + by))
		m["ID"] = json.RawMessage(fmt.Sprintf("\"%d-%d-%d\"", term, index+by, ms))
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
	to := filepath.Join(filepath.Dir(snapshot), fmt.Sprintf("%d-%d-%d", term, index+by, ms))
	if to != snapshot {
		if err := os.Rename(snapshot, to); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func TestSnapshotOfAnEarlierVersion(t *testing.T) {
	for _, by := range []int{0, 4, -4, 1 << 40} {
		t.Run(fmt.Sprint("index ", by), func(t *testing.T) {
			dir, snapshot := imaged(t)
			to := reindexed(t, snapshot, by)
			if by != 0 {
				refused(t, Config{Dir: dir}, to, "damaged", "it says that it ends with entry", "move it away")
				return
			}
			_, store := start(t, Config{Dir: dir})
			for i := range 30 {
				if !has(store, fmt.Sprint("job-", i)) {
					t.Errorf("job-%d is gone", i)
				}
			}
		})
	}
}

func TestFlippedIndexInMetaIsRefused(t *testing.T) {
	dir, snapshot := imaged(t)
	if err := os.Remove(filepath.Join(snapshot, "SHA256SUMS")); err != nil {
		t.Fatal(err)
	}
	edit(t, filepath.Join(snapshot, "meta.json"), func(b []byte) []byte {
		s := string(b)
		i := strings.Index(s, `"Index":`) + len(`"Index":`)
		return []byte(s[:i] + "9" + s[i+1:])
	})
	refused(t, Config{Dir: dir}, snapshot, "damaged")
}

func TestUnfinishedSnapshotsAreRemoved(t *testing.T) {
	dir, snapshot := imaged(t)
	for i := range 5 {
		left := filepath.Join(dir, "snapshots", fmt.Sprintf("3-%d-1.tmp", i))
		if err := os.Mkdir(left, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(left, "state.bin"), make([]byte, 1<<10), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start(t, Config{Dir: dir})
	left, err := filepath.Glob(filepath.Join(dir, "snapshots", "*.tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	if _, err := os.Stat(snapshot); err != nil {
		t.Error(err)
	}
}

func TestLostOrOlderVotesAreRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log", "stable")
	var older []byte
	for round := range 3 { // each start is a term
		r, _ := start(t, Config{Dir: dir})
		if _, err := r.Propose(context.Background(), register(fmt.Sprint("job-", round))); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if round == 1 {
			var err error
			if older, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	newest, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edit(t, path, func([]byte) []byte { return older })
	refused(t, Config{Dir: dir}, path, "older than the log", "put it back from a copy")
	edit(t, path, func(b []byte) []byte { return make([]byte, len(b)) })
	refused(t, Config{Dir: dir}, path, "empty beside a log")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	refused(t, Config{Dir: dir}, path, "missing beside a log")
	if err := os.WriteFile(path, newest, 0o600); err != nil {
		t.Fatal(err)
	}
	_, store := start(t, Config{Dir: dir})
	if !has(store, "job-2") {
		t.Error("job-2 is gone")
	}
}
