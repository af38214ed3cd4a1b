// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// A countingSealer numbers its keys.
type countingSealer struct {
	made   int
	broken bool
}

func (s *countingSealer) NewRootKey(_ *state.Snapshot, status string, created, published time.Time) (*state.RootKey, error) {
	if s.broken {
		return nil, errors.New("no key")
	}
	s.made++
	return &state.RootKey{KeyID: fmt.Sprint("k", s.made), State: status, CreateTime: created.UnixNano(), PublishTime: published.UnixNano()}, nil
}

func (s *countingSealer) ForRecovery(v *state.Snapshot, k *state.RootKey) (*state.RootKey, error) {
	recovery := v.RecoveryKey()
	if recovery == nil || k.RecoveredBy == recovery.Name {
		return nil, nil
	}
	sealed := *k
	sealed.RecoveredBy = recovery.Name
	return &sealed, nil
}

func (s *countingSealer) Reencrypt(v *state.Snapshot, variable *state.Variable) (*state.Variable, error) {
	again := *variable
	again.KeyID = v.ActiveRootKey().KeyID
	return &again, nil
}

// settle applies what a controller does until it does nothing more at that time.
func settle(t *testing.T, w *world, c control.Controller, key string, now time.Time) (wake time.Time) {
	t.Helper()
	for range 100 {
		cmds, next := c.Act(w.store.Snapshot(), key, now)
		if len(cmds) == 0 {
			return next
		}
		w.apply(cmds...)
	}
	t.Fatal("the controller does not come to rest")
	return wake
}

func TestRootKeysReplaceEachOther(t *testing.T) {
	w, sealer := newWorld(t), &countingSealer{}
	c := control.NewRootKeys(sealer, slog.New(slog.DiscardHandler))
	key := c.All(w.store.Snapshot())[0]
	states := func() (all string) {
		for k := range w.store.Snapshot().RootKeys() {
			all += k.KeyID + ":" + k.State + " "
		}
		return all
	}
	begin := after(0)
	if cmds, wake := c.Act(w.store.Snapshot(), key, begin); len(cmds) != 0 || wake.IsZero() {
		t.Errorf("before its feature level it does %v and looks again at %s", cmds, wake)
	}
	w.apply(&state.RaiseLevel{Level: state.Level})
	sealer.broken = true
	if cmds, wake := c.Act(w.store.Snapshot(), key, begin); len(cmds) != 0 || !wake.After(begin) {
		t.Errorf("without a key of the cluster it does %v and looks again at %s", cmds, wake)
	}
	sealer.broken = false
	life := control.RootKeyLife
	variable := &state.Variable{VariableMetadata: api.VariableMetadata{Namespace: "default", Path: "a"}, KeyID: "k1"}
	for _, step := range []struct {
		at     time.Duration
		do     func()
		states string
	}{
		{0, nil, "k1:active "},
		{0, func() { w.apply(state.PutVariable(variable, 0)) }, "k1:active "},
		{life/2 - 1, nil, "k1:active "},
		{life / 2, nil, "k1:active k2:prepublished "},
		{life - 1, nil, "k1:active k2:prepublished "},
		{life, nil, "k1:inactive k2:active "},
		{3 * life, nil, "k1:inactive k2:inactive k3:active "},
		{3*life + 2*time.Hour, nil, "k1:inactive k3:active "}, // k1 encrypts a variable
		{3*life + 2*time.Hour, func() { // as a full rotation does
			k := *w.store.Snapshot().RootKey("k1")
			k.State = api.RootKeyRekeying
			w.apply(state.PutRootKey(&k, k.ModifyIndex))
		}, "k3:active "},
		{3*life + 2*time.Hour, func() { w.apply(state.PutRecoveryKey(&api.RecoveryKey{Name: "r"}, 0)) }, "k3:active "},
	} {
		if step.do != nil {
			step.do()
		}
		settle(t, w, c, key, begin.Add(step.at))
		if got := states(); got != step.states {
			t.Fatalf("at %s: %s, want %s", step.at, got, step.states)
		}
	}
	v := w.store.Snapshot()
	if got := v.Variable("default", "a").KeyID; got != "k3" {
		t.Errorf("the variable is encrypted with %s", got)
	}
	for k := range v.RootKeys() {
		if k.RecoveredBy != "r" {
			t.Errorf("the recovery key does not open %s", k.KeyID)
		}
	}
}

func TestALockThatEndsIsNotRenewed(t *testing.T) {
	w, until := newWorld(t), control.NewLocks()
	c := control.NewLockExpiry(until)
	w.apply(state.PutRootKey(&state.RootKey{KeyID: "k1", State: api.RootKeyActive}, 0))
	variable := &state.Variable{KeyID: "k1", VariableMetadata: api.VariableMetadata{
		Namespace: "default", Path: "a", Lock: &api.VariableLock{ID: "l1", TTL: "20s", LockDelay: "10s"},
	}}
	w.apply(state.PutVariable(variable, 0))
	key, begin := c.All(w.store.Snapshot())[0], after(0)
	if cmds, wake := c.Act(w.store.Snapshot(), key, begin); len(cmds) != 0 || !wake.Equal(begin.Add(20*time.Second)) {
		t.Fatalf("a new lock: %v, looks again at %s", cmds, wake)
	}
	if !until.Renew("l1", 20*time.Second, begin.Add(15*time.Second)) {
		t.Fatal("a renewal in time is refused")
	}
	if cmds, wake := c.Act(w.store.Snapshot(), key, begin.Add(20*time.Second)); len(cmds) != 0 || !wake.Equal(begin.Add(35*time.Second)) {
		t.Fatalf("a renewed lock: %v, looks again at %s", cmds, wake)
	}
	cmds, _ := c.Act(w.store.Snapshot(), key, begin.Add(35*time.Second))
	if len(cmds) != 1 {
		t.Fatalf("a lock without renewals: %v", cmds)
	}
	// Its end is not written yet: from here on, nothing saves it.
	if until.Renew("l1", 20*time.Second, begin.Add(35*time.Second)) {
		t.Error("a lock that ends was renewed")
	}
	until.Lead() // a new leader knows of no renewal
	if cmds, wake := c.Act(w.store.Snapshot(), key, begin.Add(40*time.Second)); len(cmds) != 0 || !wake.Equal(begin.Add(60*time.Second)) {
		t.Errorf("a new leader: %v, looks again at %s", cmds, wake)
	}
	w.apply(cmds...)
	if v := w.store.Snapshot().Variable("default", "a"); v.Lock != nil || v.LockedUntil != begin.Add(45*time.Second).UnixNano() {
		t.Errorf("after its end: %+v", v)
	}
}
