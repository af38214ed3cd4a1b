// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"slices"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

func TestExpiredTokensAreDeleted(t *testing.T) {
	w, c := newWorld(t), control.NewTokens()
	expires := after(time.Minute)
	for i, end := range []*time.Time{&expires, nil} {
		token := &state.ACLToken{Hash: []byte{byte(i)}}
		token.AccessorID, token.Type, token.ExpirationTime = string(rune('a'+i)), api.ACLTokenManagement, end
		w.apply(state.PutACLToken(token, nil))
	}
	keys := c.All(w.store.Snapshot())
	if want := []string{"a"}; !slices.Equal(keys, want) {
		t.Fatalf("a new leader looks at %q, want %q", keys, want)
	}
	end := expires.Add(control.ExpiredTokenKept)
	if cmds, wake := c.Act(w.store.Snapshot(), "a", end.Add(-time.Nanosecond)); len(cmds) != 0 || !wake.Equal(end) {
		t.Errorf("before its time it does %v and looks again at %s, want nothing until %s", cmds, wake, end)
	}
	cmds, _ := c.Act(w.store.Snapshot(), "a", end)
	if len(cmds) != 1 {
		t.Fatalf("at its time it does %v, want one command", cmds)
	}
	w.apply(cmds...)
	if snap := w.store.Snapshot(); snap.ACLToken("a") != nil || snap.ACLToken("b") == nil {
		t.Error("the wrong token is deleted")
	}
	if cmds, wake := c.Act(w.store.Snapshot(), "b", end); len(cmds) != 0 || !wake.IsZero() {
		t.Errorf("of a token that does not expire it does %v and looks again at %s", cmds, wake)
	}
}
