// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/keyring"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

func variable(path string, items map[string]string) *api.Variable {
	return &api.Variable{VariableMetadata: api.VariableMetadata{Namespace: "default", Path: path}, Items: items}
}

// put stores a variable once the servers have a root key.
func (c *cluster) put(v *api.Variable) *api.Variable {
	c.Helper()
	c.keyed()
	stored, _, err := c.PutVariable(c.Context(), v, nil)
	if err != nil {
		c.Fatal(err)
	}
	return stored
}

// keyed waits for the first root key.
func (c *cluster) keyed() {
	c.Helper()
	c.until("a root key is active", func(v *state.Snapshot) bool { return v.ActiveRootKey() != nil })
}

// readable returns the items of a variable, or the error.
func (c *cluster) readable(path string) (map[string]string, error) {
	c.Helper()
	v := c.Store().Snapshot()
	stored := v.Variable("default", path)
	if stored == nil {
		return nil, fs.ErrNotExist
	}
	shown, err := c.Variable(v, stored)
	if err != nil {
		return nil, err
	}
	return shown.Items, nil
}

func TestWritesOfAVariableThatMeet(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.put(variable("counter", map[string]string{"n": "0"}))
		var wg sync.WaitGroup
		var mu sync.Mutex
		won := 0
		index := c.Store().Snapshot().Variable("default", "counter").ModifyIndex
		for i := range 8 {
			wg.Go(func() {
				_, _, err := c.PutVariable(c.Context(), variable("counter", map[string]string{"n": fmt.Sprint(i)}), &index)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won++
				} else if api.CodeOf(err) != api.CodeConflict {
					t.Errorf("a write with a check: %v", err)
				}
			})
		}
		wg.Wait()
		if won != 1 {
			t.Errorf("%d of 8 writes with one index succeeded", won)
		}
		for i := range 32 {
			wg.Go(func() {
				if _, _, err := c.PutVariable(c.Context(), variable("counter", map[string]string{"n": fmt.Sprint(i)}), nil); err != nil {
					t.Errorf("a write without a check: %v", err)
				}
			})
		}
		wg.Wait()
		created := uint64(0)
		if _, _, err := c.PutVariable(c.Context(), variable("counter", map[string]string{"n": "x"}), &created); api.CodeOf(err) != api.CodeConflict {
			t.Errorf("a second creation: %v", err)
		}
		if _, err := c.DeleteVariable(c.Context(), "default", "counter", &index); api.CodeOf(err) != api.CodeConflict {
			t.Errorf("a deletion with an old index: %v", err)
		}
		if _, err := c.DeleteVariable(c.Context(), "default", "counter", nil); err != nil {
			t.Error(err)
		}
		if _, err := c.DeleteVariable(c.Context(), "default", "counter", nil); err != nil {
			t.Errorf("a second deletion: %v", err)
		}
	})
}

func TestLocksOfVariables(t *testing.T) {
	simulate(t, func(c *cluster) {
		c.keyed()
		acquire := func() (*api.Variable, error) {
			v := variable("job/lock", nil)
			v.Lock = &api.VariableLock{TTL: "20s", LockDelay: "10s"}
			held, _, err := c.AcquireVariableLock(c.Context(), v, nil)
			return held, err
		}
		with := func(id string, items map[string]string) *api.Variable {
			v := variable("job/lock", items)
			v.Lock = &api.VariableLock{ID: id}
			return v
		}
		first, err := acquire()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := acquire(); api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), "locked already") {
			t.Errorf("a held lock: %v", err)
		}
		var conflict *server.VariableConflictError
		for what, attempt := range map[string]func() error{
			"a write without the lock": func() error {
				_, _, err := c.PutVariable(c.Context(), variable("job/lock", map[string]string{"a": "b"}), nil)
				return err
			},
			"a write with another lock": func() error {
				_, _, err := c.PutVariable(c.Context(), with("other", map[string]string{"a": "b"}), nil)
				return err
			},
			"a deletion":                   func() error { _, err := c.DeleteVariable(c.Context(), "default", "job/lock", nil); return err },
			"a renewal with another lock":  func() error { _, err := c.RenewVariableLock(c.Context(), with("other", nil)); return err },
			"a release of another lock":    func() error { _, _, err := c.ReleaseVariableLock(c.Context(), with("other", nil)); return err },
			"an acquisition by another id": func() error { _, _, err := c.AcquireVariableLock(c.Context(), with("other", nil), nil); return err },
		} {
			if err := attempt(); !errors.As(err, &conflict) || conflict.Stored == nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if written, _, err := c.PutVariable(c.Context(), with(first.Lock.ID, map[string]string{"leader": "a"}), nil); err != nil || written.Lock == nil || written.Lock.ID != first.Lock.ID {
			t.Errorf("a write with the lock: %+v, %v", written, err)
		}
		for range 5 { // renewals keep it far beyond its TTL
			c.pass(15 * time.Second)
			if _, err := c.RenewVariableLock(c.Context(), with(first.Lock.ID, nil)); err != nil {
				t.Fatalf("a renewal in time: %v", err)
			}
		}
		c.pass(19 * time.Second)
		if v := c.Store().Snapshot().Variable("default", "job/lock"); v.Lock == nil {
			t.Fatal("the lock ended before its time")
		}
		c.pass(2 * time.Second)
		v := c.Store().Snapshot().Variable("default", "job/lock")
		if v.Lock != nil || v.LockedUntil == 0 {
			t.Fatalf("the lock of a silent holder is %+v", v)
		}
		if _, err := c.RenewVariableLock(c.Context(), with(first.Lock.ID, nil)); api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), "has ended") {
			t.Errorf("a late renewal: %v", err)
		}
		if _, _, err := c.PutVariable(c.Context(), with(first.Lock.ID, map[string]string{"leader": "late"}), nil); api.CodeOf(err) != api.CodeConflict {
			t.Errorf("a write of a former holder: %v", err)
		}
		if _, err := acquire(); api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), "its delay ends in") {
			t.Errorf("within the delay: %v", err)
		}
		c.pass(11 * time.Second)
		second, err := acquire()
		if err != nil {
			t.Fatal(err)
		}
		if second.ModifyIndex <= first.ModifyIndex || second.Items["leader"] != "a" {
			t.Errorf("the second lock is %+v, after index %d", second, first.ModifyIndex)
		}
		if _, _, err := c.ReleaseVariableLock(c.Context(), with(second.Lock.ID, map[string]string{"a": "b"})); api.CodeOf(err) != api.CodeInvalid {
			t.Errorf("a release with items: %v", err)
		}
		if _, _, err := c.ReleaseVariableLock(c.Context(), with(second.Lock.ID, nil)); err != nil {
			t.Fatal(err)
		}
		if third, err := acquire(); err != nil || third.ModifyIndex <= second.ModifyIndex {
			t.Errorf("after a release: %+v, %v", third, err)
		}
	})
}

func TestARotationEncryptsEverythingAgain(t *testing.T) {
	simulate(t, func(c *cluster) {
		before := map[string]uint64{}
		for i := range 200 {
			v := c.put(variable(fmt.Sprintf("many/%d", i), map[string]string{"n": fmt.Sprint(i)}))
			before[v.Path] = v.ModifyIndex
		}
		old := c.Store().Snapshot().ActiveRootKey().KeyID
		next, _, err := c.RotateRootKey(c.Context(), true, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		c.put(variable("many/new", map[string]string{"n": "new"}))
		c.until("the earlier key encrypts nothing", func(v *state.Snapshot) bool { return v.RootKey(old).State == api.RootKeyInactive })
		v := c.Store().Snapshot()
		for stored := range v.Variables("default", "many/") {
			shown, err := c.Variable(v, stored)
			if err != nil || stored.KeyID != next.KeyID || shown.Items["n"] != strings.TrimPrefix(stored.Path, "many/") {
				t.Fatalf("%s: %v, %v, key %s", stored.Path, shown, err, stored.KeyID)
			}
			if want, known := before[stored.Path]; known && stored.ModifyIndex != want {
				t.Fatalf("%s has modify index %d after the rotation, %d before", stored.Path, stored.ModifyIndex, want)
			}
		}
		if _, err := c.DeleteRootKey(c.Context(), next.KeyID, true); api.CodeOf(err) != api.CodeConflict {
			t.Errorf("the deletion of the active key: %v", err)
		}
		if _, err := c.DeleteRootKey(c.Context(), old, false); err != nil {
			t.Error(err)
		}
	})
}

// TestOtherMachinesNeedTheRecoveryKey restores a snapshot on a server that has no key of the first one.
func TestOtherMachinesNeedTheRecoveryKey(t *testing.T) {
	const canary = "canary-5f1c2e9a"
	dir := t.TempDir()
	c := start(t, server.Config{DataDir: dir})
	recovery, err := keyring.NewRecovery()
	if err != nil {
		t.Fatal(err)
	}
	c.put(variable("a", map[string]string{"secret": canary}))
	if _, _, err := c.SetRecoveryKey(c.Context(), recovery.Public()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.SetRecoveryKey(c.Context(), []byte("short")); api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("a public key that is none: %v", err)
	}
	file := c.saved()
	c.close()
	if bytes.Contains(file, []byte(canary)) {
		t.Error("the snapshot contains the secret")
	}
	noFileContains(t, dir, canary, recovery.Text())

	c = start(t, server.Config{DataDir: dir}) // the same machine
	if items, err := c.readable("a"); err != nil || items["secret"] != canary {
		t.Errorf("after a restart: %v, %v", items, err)
	}
	c.close()

	c = start(t, server.Config{DataDir: t.TempDir()})
	defer c.close()
	c.keyed()
	if _, err := c.RestoreSnapshot(c.Context(), bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	_, err = c.readable("a")
	if api.CodeOf(err) != api.CodeUnavailable || !strings.Contains(err.Error(), "reeve keyring recover") || !strings.Contains(err.Error(), keyring.Fingerprint(recovery.Public())) {
		t.Errorf("without the recovery key: %v", err)
	}
	c.register(serviceJob("web", 0)) // other work continues
	other, _ := keyring.NewRecovery()
	if answer, err := c.RecoverKeyring(c.Context(), other.Text()); err != nil || len(answer.Recovered) != 0 || len(answer.Failed) != 1 || !strings.Contains(answer.Failed[0], "is sealed for the recovery key") {
		t.Errorf("with another recovery key: %+v, %v", answer, err)
	}
	if _, err := c.RecoverKeyring(c.Context(), "reeve-recovery-1-abc"); api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("with a broken recovery key: %v", err)
	}
	answer, err := c.RecoverKeyring(c.Context(), recovery.Text())
	if err != nil || len(answer.Recovered) != 1 || len(answer.Failed) != 0 {
		t.Fatalf("with the recovery key: %+v, %v", answer, err)
	}
	if items, err := c.readable("a"); err != nil || items["secret"] != canary {
		t.Errorf("after the recovery: %v, %v", items, err)
	}
	if answer, err := c.RecoverKeyring(c.Context(), recovery.Text()); err != nil || len(answer.Recovered)+len(answer.Failed) != 0 {
		t.Errorf("a second recovery: %+v, %v", answer, err)
	}
	c.put(variable("b", map[string]string{"k": "v"}))
}

// noFileContains fails the test if a file below dir contains one of the texts.
func noFileContains(t *testing.T, dir string, texts ...string) {
	t.Helper()
	read := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, text := range texts {
			if bytes.Contains(content, []byte(text)) {
				t.Errorf("%s contains %s", path, text)
			}
		}
		read++
		return err
	})
	if err != nil || read == 0 {
		t.Errorf("%d files were read: %v", read, err)
	}
}
