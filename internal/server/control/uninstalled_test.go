// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"slices"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/server/control"
)

func TestUninstalledJobIsForgottenAtItsTime(t *testing.T) {
	w, c := newWorld(t), control.NewUninstalled()
	for _, id := range []string{"a", "b"} {
		w.job(id, "service")
		w.deregister(id, true)
	}
	keys := c.All(w.store.Snapshot())
	if want := []string{"default\x00a", "default\x00b"}; !slices.Equal(keys, want) {
		t.Fatalf("a new leader looks at %q, want %q", keys, want)
	}
	end := after(control.UninstalledKept)
	if cmds, wake := c.Act(w.store.Snapshot(), keys[0], end.Add(-time.Nanosecond)); len(cmds) != 0 || !wake.Equal(end) {
		t.Errorf("before its time it does %v and looks again at %s, want nothing until %s", cmds, wake, end)
	}
	cmds, wake := c.Act(w.store.Snapshot(), keys[0], end)
	if len(cmds) != 1 || !wake.IsZero() {
		t.Fatalf("at its time it does %v and looks again at %s, want one command", cmds, wake)
	}
	w.apply(cmds...)
	snap := w.store.Snapshot()
	if snap.Uninstalled("default", "a") != nil || snap.Uninstalled("default", "b") == nil {
		t.Error("not the one whose time it was is forgotten")
	}
	if cmds, wake := c.Act(snap, keys[0], end); len(cmds) != 0 || !wake.IsZero() {
		t.Errorf("of a forgotten one it does %v and looks again at %s, want nothing", cmds, wake)
	}
}
