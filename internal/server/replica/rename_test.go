// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/state"
)

func anyState(*state.Snapshot) error { return nil }

// TestRenameKeepsTheState renames a server that ran alone, also after an interrupted attempt and again,
// with a snapshot and without.
func TestRenameKeepsTheState(t *testing.T) {
	for _, snapshot := range []bool{false, true} {
		t.Run(fmt.Sprint("snapshot=", snapshot), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "server")
			r, _ := start(t, Config{Dir: dir})
			for i := range 20 {
				if _, err := r.Propose(t.Context(), register(fmt.Sprint("job-", i))); err != nil {
					t.Fatal(err)
				}
				if snapshot && i == 10 {
					if err := r.Snapshot(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := Rename(Config{Dir: dir}, "me", "10.0.0.1:1", anyState); err == nil || !strings.Contains(err.Error(), "in use") {
				t.Errorf("a server that runs is renamed: %v", err)
			}
			old := r.ServerID()
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			refused := errors.New("not this one")
			if err := Rename(Config{Dir: dir}, "me", "10.0.0.1:1", func(v *state.Snapshot) error {
				if v.Job("default", "job-19") == nil {
					t.Error("the state that may be refused lacks the newest job")
				}
				return refused
			}); !errors.Is(err, refused) {
				t.Errorf("a refused state: %v", err)
			}
			if id, err := Owner(dir); id != old || err != nil {
				t.Errorf("after a refusal the directory belongs to %q, %v; want %q", id, err, old)
			}
			// An earlier attempt was killed while it copied.
			if err := os.MkdirAll(filepath.Join(dir+".renamed", "log"), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, id := range []string{"me", "me", "other"} {
				if err := Rename(Config{Dir: dir}, id, "10.0.0.1:1", anyState); err != nil {
					t.Fatal(err)
				}
				if owner, err := Owner(dir); owner != id || err != nil {
					t.Errorf("the directory belongs to %q, %v; want %q", owner, err, id)
				}
			}
			if left, _ := filepath.Glob(dir + ".*"); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			again, store := start(t, Config{Dir: dir})
			for i := range 20 {
				if !has(store, fmt.Sprint("job-", i)) {
					t.Errorf("job-%d is lost", i)
				}
			}
			peers, err := again.Servers()
			if err != nil || len(peers) != 1 || peers[0].ID != "other" || peers[0].Address != "10.0.0.1:1" {
				t.Errorf("the servers: %+v, %v", peers, err)
			}
		})
	}
}

// TestAServerOfAClusterIsNotRenamed refuses a server that is one of several.
func TestAServerOfAClusterIsNotRenamed(t *testing.T) {
	f := newFleet(t, 3, Config{})
	f.write("", "job-0")
	f.knows("server-1", "job-0")
	if err := f.replicas["server-1"].Close(); err != nil {
		t.Fatal(err)
	}
	delete(f.replicas, "server-1")
	if err := Rename(Config{Dir: f.dirs["server-1"]}, "me", "10.0.0.1:1", anyState); err == nil || !strings.Contains(err.Error(), "ran alone") {
		t.Errorf("it is renamed: %v", err)
	}
	if id, err := Owner(f.dirs["server-1"]); id != "server-1" || err != nil {
		t.Errorf("the directory belongs to %q, %v", id, err)
	}
}
