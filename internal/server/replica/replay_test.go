// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// TestReplayedPartsAreAppliedInOrder replays more entries than a part contains, each of which
// overwrites the same job.
func TestReplayedPartsAreAppliedInOrder(t *testing.T) {
	dir := t.TempDir()
	r, store := start(t, Config{Dir: dir})
	const versions = 3*partEntries + 5
	for i := range versions {
		c := register("job")
		c.Job.Meta = map[string]string{"version": fmt.Sprint(i)}
		if _, err := r.Propose(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	want := store.Snapshot().Job(api.DefaultNamespace, "job")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	again, store := start(t, Config{Dir: dir})
	got := store.Snapshot().Job(api.DefaultNamespace, "job")
	if got == nil || got.Version != want.Version || got.Meta["version"] != fmt.Sprint(versions-1) {
		t.Errorf("the job is %+v, want version %d", got, want.Version)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestNoSnapshotIsTakenDuringAReplay guards the names of snapshots: raft calls them by the
// last entry that it passed on.
func TestNoSnapshotIsTakenDuringAReplay(t *testing.T) {
	store := state.New()
	log := []*raft.Log{}
	for i := range uint64(3) {
		commands := []state.Command{register(fmt.Sprint("job-", i))}
		log = append(log, &raft.Log{Index: i + 1, Type: raft.LogCommand, Data: state.EncodeCommands(commands)})
		store.Apply(i+1, commands)
	}
	m := &machine{store: store, mark: &watermark{memory: make([]byte, 8)}, damaged: func(err error) { t.Error(err) }}
	for part := range slices.Chunk(log[:2], 1) {
		m.ApplyBatch(part)
		if _, err := m.Snapshot(); !errors.Is(err, errReplaying) {
			t.Errorf("a snapshot after entry %d of 3: %v", part[0].Index, err)
		}
	}
	m.ApplyBatch(log[2:])
	if _, err := m.Snapshot(); err != nil {
		t.Errorf("a snapshot after the replay: %v", err)
	}
}
