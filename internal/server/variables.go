// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/json"
	"hash/crc32"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// A VariableConflictError says that a variable is not as the caller expects it.
type VariableConflictError struct {
	Stored *state.Variable // nil: it does not exist
	Err    *api.Error      // of CodeConflict
}

// Error implements error.
func (e *VariableConflictError) Error() string { return e.Err.Error() }

// Unwrap returns the error for users.
func (e *VariableConflictError) Unwrap() error { return e.Err }

func variableConflict(stored *state.Variable, format string, args ...any) error {
	return &VariableConflictError{stored, api.Errorf(api.CodeConflict, format, args...)}
}

// Variable decrypts a variable.
func (s *Server) Variable(v *state.Snapshot, stored *state.Variable) (*api.Variable, error) {
	plain, err := s.decrypt(v, stored)
	if err != nil {
		return nil, err
	}
	shown := &api.Variable{VariableMetadata: *stored.VariableMetadata.Copy(), Items: map[string]string{}}
	if err := json.Unmarshal(plain, &shown.Items); err != nil {
		return nil, api.Errorf(api.CodeInternal, "variable %s is damaged", stored.VariableMetadata.String())
	}
	return shown, nil
}

// A variableChange derives the new form of a variable from the stored one, which is nil if there is none.
// It returns the items to encrypt; nil keeps the stored ones.
type variableChange func(old *state.Variable, next *state.Variable, now time.Time) (items map[string]string, err error)

// writers lets the writes of a path wait for each other. Some paths share a place.
type writers [64]chan struct{}

func newWriters() (w writers) {
	for i := range w {
		w[i] = make(chan struct{}, 1)
	}
	return w
}

// enter waits until no other write of the path is under way, and returns what ends this one.
func (w *writers) enter(ctx context.Context, namespace, path string) (leave func(), err error) {
	place := w[crc32.ChecksumIEEE([]byte(namespace+"\x00"+path))%uint32(len(w))]
	select {
	case place <- struct{}{}:
		return func() { <-place }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// changeVariable stores a changed variable. Changes that meet are made one after the other.
func (s *Server) changeVariable(ctx context.Context, namespace, path string, change variableChange) (*api.Variable, uint64, error) {
	leave, err := s.writers.enter(ctx, namespace, path)
	if err != nil {
		return nil, 0, err
	}
	defer leave()
	for attempt := 1; ; attempt++ {
		v := s.store.Snapshot()
		old := v.Variable(namespace, path)
		now := time.Now()
		next := &state.Variable{VariableMetadata: api.VariableMetadata{Namespace: namespace, Path: path, CreateTime: now.UnixNano(), ModifyTime: now.UnixNano()}}
		var stored uint64
		if old != nil {
			*next = *old
			next.VariableMetadata = *old.VariableMetadata.Copy()
			next.ModifyTime = max(now.UnixNano(), old.ModifyTime+1) // it tells a change from another encryption
			stored = old.ModifyIndex
		}
		items, err := change(old, next, now)
		if err != nil {
			return nil, 0, err
		}
		if items != nil || old == nil {
			if err := s.encrypt(v, next, items); err != nil {
				return nil, 0, err
			}
		}
		index, err := s.propose(ctx, state.PutVariable(next, stored))
		if api.CodeOf(err) == api.CodeConflict && attempt < changeAttempts {
			continue // somebody else was faster
		}
		if err != nil {
			return nil, 0, err
		}
		v = s.store.Snapshot()
		next.ModifyIndex = index
		if next.CreateIndex == 0 {
			next.CreateIndex = index
		}
		shown, err := s.Variable(v, next)
		return shown, index, err
	}
}

func (s *Server) encrypt(v *state.Snapshot, next *state.Variable, items map[string]string) error {
	active, err := s.activeKey(v)
	if err != nil {
		return err
	}
	if items == nil {
		items = map[string]string{}
	}
	plain, err := json.Marshal(items)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "Items: cannot be stored: %v", err)
	}
	next.KeyID, next.Data = active.ID(), active.Encrypt(next.Namespace, next.Path, plain)
	return nil
}

// checkIndex compares the modify index that the caller expects.
func checkIndex(old *state.Variable, enforce *uint64, namespace, path string) error {
	switch {
	case enforce == nil:
		return nil
	case old == nil && *enforce != 0:
		return variableConflict(nil, "variable %q does not exist in namespace %q, and the request expects modify index %d: read it again, and repeat the change", path, namespace, *enforce)
	case old != nil && old.ModifyIndex != *enforce:
		return variableConflict(old, "variable %s has modify index %d, not %d: read it again, and repeat the change", old.VariableMetadata.String(), old.ModifyIndex, *enforce)
	}
	return nil
}

// checkHolder refuses a change of a locked variable by anyone but the holder of the lock.
func checkHolder(old *state.Variable, lock *api.VariableLock) error {
	switch given := lock != nil && lock.ID != ""; {
	case old == nil || old.Lock == nil:
		if given {
			return variableConflict(old, "the lock has ended: acquire it again")
		}
		return nil
	case !given:
		return variableConflict(old, "variable %s is locked: only the holder of its lock changes it; wait until the lock is released", old.VariableMetadata.String())
	case lock.ID != old.Lock.ID:
		return variableConflict(old, "variable %s is locked by another holder: the lock of the request has ended", old.VariableMetadata.String())
	}
	return nil
}

// PutVariable stores a variable. If enforce is set, the stored variable must have this modify index;
// 0: it must not exist.
func (s *Server) PutVariable(ctx context.Context, variable *api.Variable, enforce *uint64) (*api.Variable, uint64, error) {
	if err := variable.Validate(); err != nil {
		return nil, 0, err
	}
	if len(variable.Items) == 0 {
		return nil, 0, api.Errorf(api.CodeInvalid, "Items: a variable needs at least one key with a value")
	}
	return s.changeVariable(ctx, variable.Namespace, variable.Path, func(old, _ *state.Variable, _ time.Time) (map[string]string, error) {
		if err := checkIndex(old, enforce, variable.Namespace, variable.Path); err != nil {
			return nil, err
		}
		return variable.Items, checkHolder(old, variable.Lock)
	})
}

// DeleteVariable deletes a variable; that it does not exist is no error. enforce is as in PutVariable.
func (s *Server) DeleteVariable(ctx context.Context, namespace, path string, enforce *uint64) (uint64, error) {
	for attempt := 1; ; attempt++ {
		old := s.store.Snapshot().Variable(namespace, path)
		if err := checkIndex(old, enforce, namespace, path); err != nil {
			return 0, err
		}
		if old == nil {
			return 0, nil
		}
		if err := checkHolder(old, nil); err != nil {
			return 0, err
		}
		index, err := s.propose(ctx, state.DeleteVariable(namespace, path, old.ModifyIndex))
		switch api.CodeOf(err) {
		case api.CodeNotFound:
			return 0, nil
		case api.CodeConflict:
			if attempt < changeAttempts {
				continue
			}
		}
		return index, err
	}
}
