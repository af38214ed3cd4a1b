// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"io"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// TestNewCommandsWaitForAllServers has a server of a version that announced no level. Commands
// that it cannot read are refused, until it is upgraded.
func TestNewCommandsWaitForAllServers(t *testing.T) {
	const id, address = "22222222-0000-4000-8000-000000000002", "10.0.0.2:4646"
	f := found(t, func(f *founder) {
		f.store.Apply(1, []state.Command{&state.BeginCluster{ID: "c"}}) // as an earlier version did
		f.joined[id] = address
	})
	file, err := f.SaveSnapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	refused := func(what string, err error, say string) {
		t.Helper()
		if api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v, want %q", what, err, say)
		}
	}
	refused("a server that announced nothing", f.RotateCA(t.Context()), "cannot replace the root certificate yet: server 22222222 runs Reeve of an unknown version")
	if _, err := f.propose(t.Context(), state.PutServer(&api.Server{ID: id, Name: "two", Address: address, Version: "0.0.1"}, nil)); err != nil {
		t.Fatal(err)
	}
	before := f.Store().Index()
	refused("a rotation", f.RotateCA(t.Context()), "cannot replace the root certificate yet: server two runs Reeve 0.0.1, which cannot apply that; upgrade it, or remove it with: reeve server remove")
	_, err = f.RestoreSnapshot(t.Context(), file)
	refused("a restore", err, "cannot restore a snapshot yet: server two runs Reeve 0.0.1")
	if v := f.Store().Snapshot(); v.Index() != before || v.Trust().CrossSigned != "" || v.HasRestore() || v.Level() != 1 {
		t.Errorf("refused changes changed the state: index %d after %d, level %d", v.Index(), before, v.Level())
	}

	if err := f.Announce(t.Context(), id, &api.AnnounceRequest{Name: "two", Address: address, Version: "0.2.0", Level: state.Level}); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the level rises", func() bool { return f.Store().Snapshot().Level() == state.Level })
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if _, err := f.RestoreSnapshot(t.Context(), file); err != nil {
		t.Errorf("a restore after the upgrade: %v", err)
	}
	if err := f.RotateCA(t.Context()); err != nil {
		t.Errorf("a rotation after the upgrade: %v", err)
	}
	if got := f.Store().Snapshot().Level(); got != state.Level {
		t.Errorf("after the restore of a snapshot of level 1, the level is %d", got)
	}
}
