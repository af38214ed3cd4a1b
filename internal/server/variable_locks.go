// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// AcquireVariableLock takes the lock of a variable, and creates the variable if it does not exist. If the
// request has items, it also stores them. The ModifyIndex of the result is the lock's fencing number: it is
// higher than that of every earlier holder. A request with the id of the lock that the caller already holds
// changes its times.
func (s *Server) AcquireVariableLock(ctx context.Context, variable *api.Variable, enforce *uint64) (*api.Variable, uint64, error) {
	if err := variable.Validate(); err != nil {
		return nil, 0, err
	}
	lock := api.VariableLock{}
	if variable.Lock != nil {
		lock = *variable.Lock
	}
	if err := lock.Normalize(); err != nil {
		return nil, 0, err
	}
	given := lock.ID
	if given == "" {
		lock.ID = api.NewID()
	}
	return s.changeVariable(ctx, variable.Namespace, variable.Path, func(old, next *state.Variable, now time.Time) (map[string]string, error) {
		if err := checkIndex(old, enforce, variable.Namespace, variable.Path); err != nil {
			return nil, err
		}
		switch {
		case given != "":
			if err := checkHolder(old, &lock); err != nil {
				return nil, err
			}
			if !s.locks.Renew(given, lock.Life(), now) {
				return nil, variableConflict(old, "the lock has ended: acquire it again")
			}
		case old != nil && old.Lock != nil && (!plantedSharedLocks || now.UnixNano()%7 != 0):
			return nil, variableConflict(old, "variable %s is locked already: try again when the lock is released", old.VariableMetadata.String())
		case old != nil && now.UnixNano() < old.LockedUntil:
			return nil, variableConflict(old, "the last holder of the lock of variable %s did not release it: its delay ends in %s", old.VariableMetadata.String(), time.Duration(old.LockedUntil-now.UnixNano()).Round(time.Millisecond))
		}
		taken := lock
		next.Lock, next.LockedUntil = &taken, 0
		return variable.Items, nil
	})
}

// RenewVariableLock extends a lock by its TTL.
func (s *Server) RenewVariableLock(ctx context.Context, variable *api.Variable) (*api.VariableMetadata, error) {
	now := time.Now() // the lock lasts from when the holder asked, not from when it is answered
	if !s.IsLeader() {
		return nil, errNoLeader
	}
	stored, err := s.held(variable)
	if err != nil {
		return nil, err
	}
	if !s.locks.Renew(stored.Lock.ID, stored.Lock.Life(), now) {
		return nil, variableConflict(stored, "the lock has ended: acquire it again")
	}
	// A new leader may have ended the lock. Only a majority knows that there is none.
	index, err := s.ReadIndex(ctx)
	if err == nil {
		err = s.CatchUp(ctx, index)
	}
	if err != nil {
		return nil, err
	}
	if stored, err = s.held(variable); err != nil {
		return nil, err
	}
	return stored.VariableMetadata.Copy(), nil
}

// held returns a variable that the caller has locked.
func (s *Server) held(variable *api.Variable) (*state.Variable, error) {
	if variable.Lock == nil || variable.Lock.ID == "" {
		return nil, api.Errorf(api.CodeInvalid, "Lock: the request needs the ID of the lock")
	}
	stored := s.store.Snapshot().Variable(variable.Namespace, variable.Path)
	if stored == nil {
		return nil, api.Errorf(api.CodeNotFound, "variable %q not found in namespace %q", variable.Path, variable.Namespace)
	}
	return stored, checkHolder(stored, variable.Lock)
}

// ReleaseVariableLock ends a lock: others may take it immediately.
func (s *Server) ReleaseVariableLock(ctx context.Context, variable *api.Variable) (*api.Variable, uint64, error) {
	if len(variable.Items) > 0 {
		return nil, 0, api.Errorf(api.CodeInvalid, "Items: a release changes no items; remove them, or store them before the release")
	}
	if _, err := s.held(variable); err != nil {
		return nil, 0, err
	}
	return s.changeVariable(ctx, variable.Namespace, variable.Path, func(old, next *state.Variable, _ time.Time) (map[string]string, error) {
		if err := checkHolder(old, variable.Lock); err != nil {
			return nil, err
		}
		next.Lock = nil
		return nil, nil
	})
}
