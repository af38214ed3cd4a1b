// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/beneath"
	"github.com/reeve-run/reeve/internal/node/image/layer"
)

// A Fill writes a layer's files below root, an empty directory, and verifies them.
type Fill func(ctx context.Context, root *beneath.Dir) (layer.Size, error)

// A fill is one layer that is being unpacked for all pulls that need it.
type fill struct {
	ctx     context.Context // canceled when the last waiter has left
	cancel  context.CancelFunc
	waiters int // guarded by Store.mu
	done    chan struct{}
	err     error
}

// Layer makes a layer present, and keeps it present until release. Callers that need the same
// layer at the same time share one fill. If a fill fails that another caller began, the caller
// tries its own, because it may have other credentials.
func (s *Store) Layer(ctx context.Context, diffID v1.Hash, write Fill) (release func(), err error) {
	if err := checkHash(diffID); err != nil {
		return nil, err
	}
	for {
		s.mu.Lock()
		if l := s.layers[diffID]; l != nil {
			l.pins++
			s.mu.Unlock()
			return s.releaser(l), nil
		}
		f := s.fills[diffID]
		own := f == nil
		if own {
			f = s.start(ctx, diffID, write)
		}
		f.waiters++
		s.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			if s.leave(diffID, f) {
				return nil, ctx.Err()
			}
			<-f.done // it ended meanwhile, and pinned the layer for this caller
		}
		if f.err == nil {
			s.mu.Lock()
			l := s.layers[diffID]
			s.mu.Unlock()
			return s.releaser(l), nil
		}
		if own || ctx.Err() != nil {
			return nil, f.err
		}
	}
}

func (s *Store) releaser(l *stored) func() {
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.pins--
	})
}

// leave removes a waiter, and reports false if the fill has already ended.
func (s *Store) leave(diffID v1.Hash, f *fill) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fills[diffID] != f {
		return false
	}
	if f.waiters--; f.waiters == 0 {
		f.cancel()
		delete(s.fills, diffID) // a later caller must not join a canceled fill
	}
	return true
}

// start begins a fill. The caller holds the mutex.
func (s *Store) start(ctx context.Context, diffID v1.Hash, write Fill) *fill {
	f := &fill{done: make(chan struct{})}
	f.ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.fills[diffID] = f
	s.running.Go(func() { s.run(f, diffID, write) })
	return f
}

// run unpacks a layer and publishes it.
func (s *Store) run(f *fill, diffID v1.Hash, write Fill) {
	defer close(f.done)
	defer f.cancel()
	name := s.tmpName()
	size, err := s.prepare(f.ctx, name, write)
	if err == nil {
		err = s.publish(f, diffID, name, size)
	}
	if err != nil {
		// A failed removal leaves files that the next Open removes.
		f.err = errors.Join(err, s.tmp.RemoveAll(name))
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.fills[diffID] == f {
			delete(s.fills, diffID)
		}
	}
}

func (s *Store) tmpName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	return strconv.Itoa(s.next)
}

// prepare writes a complete, durable layer below tmp.
func (s *Store) prepare(ctx context.Context, name string, write Fill) (layer.Size, error) {
	dir, err := s.tmp.Make(name, 0o700)
	if err != nil {
		return layer.Size{}, err
	}
	defer dir.Close()
	s.step("made")
	root, err := dir.Make("fs", 0o755)
	if err != nil {
		return layer.Size{}, err
	}
	defer root.Close()
	size, err := write(ctx, root)
	if err != nil {
		return size, err
	}
	s.step("written")
	text, err := json.Marshal(sizeRecord{size.Bytes, size.Entries})
	if err != nil {
		return size, err
	}
	file, err := dir.Create("layer.json", 0o600)
	if err != nil {
		return size, err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return size, err
	}
	s.step("sized")
	// Every sync ends before its fill, and so before Close closes the handle.
	if _, err := s.sync.Do(context.WithoutCancel(ctx)); err != nil {
		return size, fmt.Errorf("sync the layer: %w", err)
	}
	s.step("synced")
	return size, nil
}

// publish moves a layer to its place, and pins it for every waiter of the fill.
func (s *Store) publish(f *fill, diffID v1.Hash, name string, size layer.Size) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fills[diffID] != f {
		return context.Canceled // all waiters have left
	}
	if err := unix.Renameat(s.tmp.Fd(), name, s.done.Fd(), diffID.Hex); err != nil {
		return fmt.Errorf("move the layer to its place: %w", err)
	}
	s.step("renamed")
	delete(s.fills, diffID)
	s.layers[diffID] = &stored{size: size.Bytes, pins: f.waiters}
	// The waiters rely on the layer's name after a crash: their records follow it.
	if err := syncDir(s.done); err != nil {
		s.layers[diffID].pins = 0 // the error reaches all waiters; the layer itself is whole
		return err
	}
	return nil
}
