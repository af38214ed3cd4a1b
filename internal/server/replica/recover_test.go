// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecoverFromLostQuorum loses two of three servers for good. The survivor recovers, has
// all that it ever had, and takes new servers.
func TestRecoverFromLostQuorum(t *testing.T) {
	for _, snapshot := range []bool{false, true} {
		t.Run(fmt.Sprint("snapshot=", snapshot), func(t *testing.T) {
			f := newFleet(t, 3, Config{TrailingEntries: 4})
			for i := range 20 {
				f.write("", fmt.Sprint("job-", i))
			}
			survivor := "server-2"
			f.knows(survivor, "job-19")
			if snapshot {
				if err := f.replicas[survivor].Snapshot(); err != nil {
					t.Fatal(err)
				}
				f.write("", "behind-the-snapshot")
				f.knows(survivor, "behind-the-snapshot")
			}
			if _, err := Recover(Config{Dir: f.dirs[survivor]}, false); err == nil || !strings.Contains(err.Error(), "is in use by") {
				t.Errorf("the recovery of a server that runs: %v", err)
			}
			for id := range f.dirs {
				f.each(id, (*link).sever)
			}
			for id, r := range f.replicas {
				if err := r.Close(); err != nil {
					t.Fatal(err)
				}
				delete(f.replicas, id)
			}
			f.forget("server-0")
			f.forget("server-1")

			planned, err := Recover(Config{Dir: f.dirs[survivor]}, true)
			if err != nil || planned.Copy != "" || len(planned.Dropped) != 2 {
				t.Errorf("the dry run: %+v, %v", planned, err)
			}
			got, err := Recover(Config{Dir: f.dirs[survivor]}, false)
			if err != nil {
				t.Fatal(err)
			}
			if got.LastIndex != planned.LastIndex {
				t.Errorf("the dry run promised entry %d, and entry %d is the newest", planned.LastIndex, got.LastIndex)
			}
			if got.ServerID != survivor || len(got.Dropped) != 2 || got.LastIndex < 20 || got.LastTerm == 0 || got.LastTime.IsZero() {
				t.Errorf("the recovery: %+v", got)
			}
			if _, err := os.Stat(filepath.Join(got.Copy, "meta.json")); err != nil {
				t.Errorf("the copy of before: %v", err)
			}
			f.each(survivor, (*link).heal)
			r := f.open(survivor)
			f.write("", "after")
			for _, job := range []string{"job-0", "job-19", "after"} {
				if !has(r.config.Store, job) {
					t.Errorf("the survivor lacks %s", job)
				}
			}
			if snapshot && !has(r.config.Store, "behind-the-snapshot") {
				t.Error("the survivor lacks the write behind its snapshot")
			}
			if peers, err := r.Servers(); err != nil || len(peers) != 1 || !peers[0].Voter {
				t.Errorf("the servers: %+v, %v", peers, err)
			}
			f.join("server-3")
			f.knows("server-3", "job-0")
			f.knows("server-3", "after")

			// The copy is the server of before: it does not lead without the others.
			copied, err := Recover(Config{Dir: got.Copy}, false)
			if err != nil || len(copied.Dropped) != 2 {
				t.Errorf("the recovery of the copy: %+v, %v", copied, err)
			}
			defer os.RemoveAll(got.Copy)
		})
	}
}

func TestRecoverRefuses(t *testing.T) {
	empty := t.TempDir()
	if _, err := Recover(Config{Dir: empty}, false); err == nil || !strings.Contains(err.Error(), "contains no server's data") {
		t.Errorf("the recovery of an empty directory: %v", err)
	}
	if left, err := os.ReadDir(empty); err != nil || len(left) > 0 {
		t.Errorf("the refused recovery left %v, %v", left, err)
	}
	f := newFleet(t, 1, Config{})
	f.write("", "job")
	waiting := f.TempDir()
	f.dirs["server-1"] = waiting
	f.open("server-1")
	for id, r := range f.replicas {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		delete(f.replicas, id)
	}
	for dir, words := range map[string]string{f.dirs["server-0"]: "is the only server of its cluster already", waiting: "contains no cluster yet"} {
		if _, err := Recover(Config{Dir: dir}, false); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("refused with %v; want %q", err, words)
		}
		if copies, _ := filepath.Glob(dir + ".before-recovery-*"); len(copies) > 0 {
			t.Errorf("the refused recovery left %v", copies)
		}
	}
}
