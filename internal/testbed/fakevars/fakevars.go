// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package fakevars keeps variables in memory for tests, with the blocking queries, check-and-set
// and locks of servers. It works in bubbles of virtual time.
package fakevars

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// A Store holds variables of all namespaces.
type Store struct {
	mu      sync.Mutex
	index   uint64
	stored  map[string]*api.Variable
	changed chan struct{} // closed at the next change
	failure error
	gets    int
}

// New returns an empty store.
func New() *Store { return &Store{stored: map[string]*api.Variable{}, changed: make(chan struct{})} }

// Fail makes all calls fail with an error; nil ends that.
func (s *Store) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
	s.wake()
}

// Gets returns the number of reads.
func (s *Store) Gets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gets
}

// Rewind makes the next index 1, as after a restore of another cluster's snapshot.
func (s *Store) Rewind() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index = 0
	for _, v := range s.stored {
		s.index++
		v.ModifyIndex = s.index
	}
	s.wake()
}

// Delete deletes a variable, as an operator does.
func (s *Store) Delete(namespace, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.stored, namespace+"\x00"+path)
	s.index++
	s.wake()
}

func (s *Store) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// In returns the client of a namespace.
func (s *Store) In(namespace string) Client { return Client{s, namespace} }

// A Client reads and writes the variables of one namespace.
type Client struct {
	s         *Store
	namespace string
}

func (c Client) key(path string) string { return c.namespace + "\x00" + path }

// Get returns a variable once it is newer than the index of the query.
func (c Client) Get(ctx context.Context, path string, q *client.QueryOptions) (*api.Variable, *client.QueryMeta, error) {
	if q == nil {
		q = &client.QueryOptions{}
	}
	s := c.s
	over := time.NewTimer(max(q.Wait, time.Millisecond))
	defer over.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.gets++; ; {
		v := s.stored[c.key(path)]
		switch {
		case s.failure != nil:
			return nil, nil, s.failure
		case v == nil:
			return nil, nil, api.Errorf(api.CodeNotFound, "variable %q not found in namespace %q", path, c.namespace)
		case v.ModifyIndex > q.Index:
			return copyOf(v), &client.QueryMeta{Index: v.ModifyIndex}, nil
		}
		changed := s.changed
		s.mu.Unlock()
		ended := false
		select {
		case <-changed:
		case <-over.C:
			ended = true
		case <-ctx.Done():
			ended = true
		}
		s.mu.Lock()
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if v := s.stored[c.key(path)]; ended && v != nil && s.failure == nil {
			return copyOf(v), &client.QueryMeta{Index: v.ModifyIndex}, nil
		}
	}
}

func copyOf(v *api.Variable) *api.Variable {
	return &api.Variable{VariableMetadata: *v.VariableMetadata.Copy(), Items: maps.Clone(v.Items)}
}

// Put stores a variable.
func (c Client) Put(_ context.Context, v *api.Variable) (*api.Variable, error) {
	return c.change(v, func(old *api.Variable) error { return checkHolder(old, v.Lock) }, func(next *api.Variable) { next.Items = v.Items })
}

// PutAt stores a variable if the stored one has a modify index.
func (c Client) PutAt(_ context.Context, v *api.Variable, index uint64) (*api.Variable, error) {
	return c.change(v, func(old *api.Variable) error {
		if old == nil && index != 0 || old != nil && old.ModifyIndex != index {
			return api.Errorf(api.CodeConflict, "the variable has another index")
		}
		return checkHolder(old, v.Lock)
	}, func(next *api.Variable) { next.Items = v.Items })
}

// Acquire takes the lock of a variable.
func (c Client) Acquire(_ context.Context, v *api.Variable) (*api.Variable, error) {
	return c.change(v, func(old *api.Variable) error {
		if old != nil && old.Lock != nil {
			return api.Errorf(api.CodeConflict, "the variable is locked already")
		}
		return nil
	}, func(next *api.Variable) {
		lock := api.VariableLock{}
		if v.Lock != nil {
			lock = *v.Lock
		}
		if err := lock.Normalize(); err != nil {
			panic(err)
		}
		lock.ID = fmt.Sprint("lock-", c.s.index+1)
		next.Lock = &lock
		if v.Items != nil {
			next.Items = v.Items
		}
		time.AfterFunc(lock.Life(), func() { c.end(v.Path, lock.ID, lock.Life(), next) })
	})
}

// end ends a lock that was not renewed.
func (c Client) end(path, id string, life time.Duration, held *api.Variable) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	v := c.s.stored[c.key(path)]
	if v == nil || v.Lock == nil || v.Lock.ID != id {
		return
	}
	if renewed := time.Unix(0, v.CreateTime); time.Since(renewed) < life { // CreateTime holds the time of the renewal
		time.AfterFunc(life-time.Since(renewed), func() { c.end(path, id, life, held) })
		return
	}
	next := copyOf(v)
	next.Lock = nil
	c.s.put(c.key(path), next)
}

// Renew extends a lock.
func (c Client) Renew(_ context.Context, path, id string) (*api.Variable, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.s.failure != nil {
		return nil, c.s.failure
	}
	v := c.s.stored[c.key(path)]
	if v == nil || v.Lock == nil || v.Lock.ID != id {
		return nil, api.Errorf(api.CodeConflict, "the lock has ended: acquire it again")
	}
	v.CreateTime = time.Now().UnixNano()
	return copyOf(v), nil
}

// Release ends a lock.
func (c Client) Release(_ context.Context, path, id string) (*api.Variable, error) {
	v := &api.Variable{VariableMetadata: api.VariableMetadata{Path: path, Lock: &api.VariableLock{ID: id}}}
	return c.change(v, func(old *api.Variable) error { return checkHolder(old, v.Lock) }, func(next *api.Variable) { next.Lock = nil })
}

func checkHolder(old *api.Variable, lock *api.VariableLock) error {
	holds := old != nil && old.Lock != nil
	switch {
	case holds && (lock == nil || lock.ID != old.Lock.ID), !holds && lock != nil && lock.ID != "":
		return api.Errorf(api.CodeConflict, "the variable is locked by another holder, or the lock has ended")
	}
	return nil
}

func (c Client) change(v *api.Variable, check func(old *api.Variable) error, set func(next *api.Variable)) (*api.Variable, error) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		return nil, s.failure
	}
	if err := v.Validate(); err != nil {
		return nil, err
	}
	old := s.stored[c.key(v.Path)]
	if err := check(old); err != nil {
		return nil, err
	}
	next := &api.Variable{VariableMetadata: api.VariableMetadata{Namespace: c.namespace, Path: v.Path}, Items: map[string]string{}}
	if old != nil {
		next = copyOf(old)
	}
	next.CreateTime = time.Now().UnixNano()
	set(next)
	s.put(c.key(v.Path), next)
	return copyOf(next), nil
}

// put stores the next form of a variable. The caller holds the lock of the store.
func (s *Store) put(key string, next *api.Variable) {
	s.index++
	next.ModifyIndex = s.index
	s.stored[key] = next
	s.wake()
}
