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

func TestExpiredOneTimeTokensAreDeleted(t *testing.T) {
	w, c := newWorld(t), control.NewTokens()
	expires := after(time.Minute)
	for i, end := range []*time.Time{&expires, nil} {
		token := &state.ACLToken{Hash: []byte{byte(i)}}
		token.AccessorID, token.Type, token.ExpirationTime = string(rune('a'+i)), api.ACLTokenManagement, end
		w.apply(state.PutACLToken(token, nil))
	}
	put := func(accessor string, end time.Time) {
		w.apply(state.PutOneTimeToken(&state.OneTimeToken{OneTimeToken: api.OneTimeToken{AccessorID: accessor, ExpiresAt: end}, Hash: []byte(accessor)}))
	}
	once := after(30 * time.Minute)
	put("a", once)
	put("b", once)
	if keys, want := c.All(w.store.Snapshot()), []string{"a", "b"}; !slices.Equal(keys, want) {
		t.Fatalf("a new leader looks at %q, want %q", keys, want)
	}
	if cmds, wake := c.Act(w.store.Snapshot(), "a", expires); len(cmds) != 0 || !wake.Equal(once) {
		t.Errorf("before both ends it does %v and looks again at %s, want nothing until %s", cmds, wake, once)
	}
	cmds, wake := c.Act(w.store.Snapshot(), "a", once)
	if end := expires.Add(control.ExpiredTokenKept); len(cmds) != 1 || !wake.Equal(end) {
		t.Fatalf("at the first end it does %v and looks again at %s, want one command until %s", cmds, wake, end)
	}
	put("a", once.Add(time.Minute)) // a newer one in the meantime
	if err := w.store.Apply(w.store.Index()+1, cmds)[0]; api.CodeOf(err) != api.CodeConflict {
		t.Errorf("the deletion of a replaced one-time token: %v, want a conflict", err)
	}
	w.apply(state.DeleteACLToken("a"))
	if keys, want := c.All(w.store.Snapshot()), []string{"b", "a"}; !slices.Equal(keys, want) {
		t.Errorf("after the deletion of the token, a new leader looks at %q, want %q", keys, want)
	}
	cmds, wake = c.Act(w.store.Snapshot(), "a", once.Add(time.Minute))
	w.apply(cmds...)
	if w.store.Snapshot().OneTimeToken("a") != nil || w.store.Snapshot().OneTimeToken("b") == nil || !wake.IsZero() {
		t.Errorf("the wrong one-time token is deleted, or it looks again at %s", wake)
	}
}

// TestTokensEndWithTheirCreator deletes a token that created another one, which created a third.
func TestTokensEndWithTheirCreator(t *testing.T) {
	w, c := newWorld(t), control.NewTokens()
	w.apply(state.PutNamespace(&api.Namespace{Name: "web"}, nil), state.PutACLPolicy(&api.ACLPolicy{Name: "web.ci", Namespace: "web"}))
	for _, token := range []api.ACLToken{
		{AccessorID: "a"}, {AccessorID: "other"}, {AccessorID: "b", Namespace: "web", Creator: "a"}, {AccessorID: "c", Namespace: "web", Creator: "b"}, {AccessorID: "kept", Namespace: "web", Creator: "other"},
	} {
		w.apply(state.PutACLToken(&state.ACLToken{ACLToken: token, Hash: []byte(token.AccessorID)}, nil))
	}
	if keys := c.All(w.store.Snapshot()); len(keys) != 0 {
		t.Fatalf("a new leader looks at %q, want nothing", keys)
	}
	w.apply(state.DeleteACLToken("a"))
	for _, key := range []string{"a", "b"} {
		if keys := c.All(w.store.Snapshot()); !slices.Equal(keys, []string{key}) {
			t.Fatalf("a new leader looks at %q, want %q", keys, key)
		}
		var touched []string
		c.Touched(&state.Change{Table: state.TableACLTokens, Op: state.Delete, Old: &state.ACLToken{ACLToken: api.ACLToken{AccessorID: key}}}, func(k string) { touched = append(touched, k) })
		if !slices.Equal(touched, []string{key}) {
			t.Fatalf("the deletion of %s touches %q", key, touched)
		}
		cmds, _ := c.Act(w.store.Snapshot(), key, after(0))
		w.apply(cmds...)
	}
	snap := w.store.Snapshot()
	if snap.ACLToken("b") != nil || snap.ACLToken("c") != nil || snap.ACLToken("kept") == nil || snap.ACLToken("other") == nil {
		t.Error("the wrong tokens are left")
	}
}
