// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// saved returns a snapshot of the servers' state.
func (c *cluster) saved() []byte {
	c.Helper()
	s, err := c.SaveSnapshot()
	if err != nil {
		c.Fatal(err)
	}
	defer s.Close()
	b, err := io.ReadAll(s)
	if err != nil {
		c.Fatal(err)
	}
	return b
}

// TestARestoredServerKeepsItsStateAndContinues restarts a server after a restore: from its log
// alone, and from a snapshot of it.
func TestARestoredServerKeepsItsStateAndContinues(t *testing.T) {
	dir := t.TempDir()
	c := start(t, server.Config{DataDir: dir})
	c.register(serviceJob("kept", 0))
	file := c.saved()
	c.register(serviceJob("lost", 0))
	if _, err := c.RestoreSnapshot(t.Context(), bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	for _, compacted := range []bool{false, true} {
		index, log := c.Store().Index(), c.Store().LogIndex()
		if compacted {
			if err := c.Replica().Snapshot(); err != nil {
				t.Fatal(err)
			}
		}
		c.close()
		c = start(t, server.Config{DataDir: dir})
		v := c.Store().Snapshot()
		if v.Job("default", "kept") == nil || v.Job("default", "lost") != nil {
			t.Errorf("after a restart: job kept: %t, job lost: %t", v.Job("default", "kept") != nil, v.Job("default", "lost") != nil)
		}
		if v.Index() < index || c.Store().LogIndex() < log || v.HasRestore() {
			t.Errorf("after a restart it is at index %d, log %d; before at %d, %d", v.Index(), c.Store().LogIndex(), index, log)
		}
	}
	c.register(serviceJob("next", 0))
	c.close()
}

// TestANewLeaderDiscardsAnUnfinishedRestore restarts a server in the middle of a restore.
func TestANewLeaderDiscardsAnUnfinishedRestore(t *testing.T) {
	dir := t.TempDir()
	c := start(t, server.Config{DataDir: dir})
	c.register(serviceJob("kept", 0))
	if _, err := c.Replica().Propose(t.Context(), &state.StageRestore{ID: "unfinished", Data: []byte("part")}); err != nil {
		t.Fatal(err)
	}
	c.close()
	c = start(t, server.Config{DataDir: dir})
	defer c.close()
	if v := c.Store().Snapshot(); v.HasRestore() || v.Job("default", "kept") == nil {
		t.Errorf("it has parts: %t, its job: %t", v.HasRestore(), v.Job("default", "kept") != nil)
	}
}

// TestInstancesOutliveARestore restores a state that lacks a running job: its instances become
// known as those of an older history, and instances of restored jobs continue.
func TestInstancesOutliveARestore(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.addNode("one", nil)
		c.register(serviceJob("kept", 2))
		c.until("it runs", func(v *state.Snapshot) bool { return len(running(v, "kept")) == 2 })
		before := running(c.Store().Snapshot(), "kept")
		file := c.saved()
		c.register(serviceJob("lost", 1))
		c.until("the other runs", func(v *state.Snapshot) bool { return len(running(v, "lost")) == 1 })
		if _, err := c.RestoreSnapshot(c.Context(), bytes.NewReader(file)); err != nil {
			c.Fatal(err)
		}
		c.pass(60e9)
		v := c.Store().Snapshot()
		after := running(v, "kept")
		if len(after) != 2 || after[0].ID != before[0].ID || after[1].ID != before[1].ID {
			c.Errorf("the instances of the restored job changed:\n%s", describe(v))
		}
		if v.Job("default", "lost") != nil {
			c.Error("the job that the snapshot lacks exists")
		}
		c.register(serviceJob("later", 1))
		c.until("a later job runs", func(v *state.Snapshot) bool { return len(running(v, "later")) == 1 })
	})
}
