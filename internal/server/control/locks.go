// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/internal/state"
)

// Locks knows until when the locks of variables last. It is in the leader's memory and follows the
// monotonic clock: a new leader gives every holder the whole time again, because it does not know of
// renewals.
type Locks struct {
	mu    sync.Mutex
	until map[string]deadline // by lock id
}

type deadline struct {
	at    time.Time
	ended bool // its end is being written: no renewal saves it
}

// NewLocks returns an empty Locks.
func NewLocks() *Locks { return &Locks{until: map[string]deadline{}} }

// Lead begins a term: all deadlines begin again.
func (l *Locks) Lead() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.until)
}

// Renew extends a lock, and reports whether it has not ended.
func (l *Locks) Renew(id string, life time.Duration, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until[id].ended {
		return false
	}
	l.until[id] = deadline{at: now.Add(life)}
	return true
}

// check returns the deadline of a lock, which begins when it is first seen, and whether it has passed.
func (l *Locks) check(id string, life time.Duration, now time.Time) (at time.Time, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d, known := l.until[id]
	if !known {
		d.at = now.Add(life)
	}
	d.ended = d.ended || !now.Before(d.at)
	l.until[id] = d
	return d.at, d.ended
}

func (l *Locks) forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.until, id)
}

// locks ends the locks of variables whose holders do not renew them.
type locks struct{ until *Locks }

// NewLockExpiry returns the controller of locks. Its keys name variables.
func NewLockExpiry(until *Locks) Controller { return locks{until} }

func (locks) Name() string { return "locks" }

func (locks) All(snap *state.Snapshot) (keys []string) {
	for v := range snap.AllVariables() {
		if v.Lock != nil {
			keys = append(keys, lockKey(v))
		}
	}
	return keys
}

func (c locks) Touched(change *state.Change, add func(string)) {
	if change.Table != state.TableVariables {
		return
	}
	old, _ := change.Old.(*state.Variable)
	v, _ := change.New.(*state.Variable)
	if old != nil && old.Lock != nil && (v == nil || v.Lock == nil || v.Lock.ID != old.Lock.ID) {
		c.until.forget(old.Lock.ID)
	}
	if v != nil && v.Lock != nil {
		add(lockKey(v))
	}
}

// lockKey names a variable. Neither part contains the separator.
func lockKey(v *state.Variable) string { return v.Namespace + "\x00" + v.Path }

func (c locks) Act(snap *state.Snapshot, key string, now time.Time) ([]state.Command, time.Time) {
	namespace, path, _ := strings.Cut(key, "\x00")
	v := snap.Variable(namespace, path)
	if v == nil || v.Lock == nil {
		return nil, time.Time{}
	}
	at, ended := c.until.check(v.Lock.ID, v.Lock.Life(), now)
	if !ended {
		return nil, at
	}
	free := *v
	free.VariableMetadata = *v.VariableMetadata.Copy()
	free.LockedUntil, free.ModifyTime = now.Add(v.Lock.Delay()).UnixNano(), max(now.UnixNano(), v.ModifyTime+1)
	free.Lock = nil
	return []state.Command{state.PutVariable(&free, v.ModifyIndex)}, time.Time{}
}
