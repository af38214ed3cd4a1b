// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

// A Store keeps the results of fetches. Invariants:
//
//  1. A result in done/ is complete: it is made below tmp/ and renamed. Open empties tmp/.
//  2. A result is read together with its digest, which the record beside it holds. So a result
//     that lost data in a power failure is noticed when it is used, fetched again, and never placed.
//  3. One fetch serves all callers that wait for the same result. It ends when the last one leaves.
//  4. A result in use is not removed.
type Store struct {
	dir       string
	tmp, done *beneath.Dir
	limit     int64 // bytes of all results

	mu      sync.Mutex
	kept    map[string]*kept
	fetches map[string]*fetch
	next    int
	size    int64
	running sync.WaitGroup
}

// A kept result.
type kept struct {
	record
	used time.Time
	pins int
}

type record struct {
	Digest string // of the tree
	Bytes  int64
}

// A fetch is one result that is being made for all callers that wait for it.
type fetch struct {
	cancel  context.CancelFunc
	waiters int // guarded by Store.mu
	done    chan struct{}
	err     error
}

// make writes a result below work, in the directory filesName.
type makeFunc func(ctx context.Context, work string) error

const recordName = "record.json"

// OpenStore opens the store in a directory that only this user can read, and removes what an
// earlier agent did not finish.
func OpenStore(dir string, limit int64) (*Store, error) {
	s := &Store{dir: dir, limit: limit, kept: map[string]*kept{}, fetches: map[string]*fetch{}}
	for _, d := range []string{dir, filepath.Join(dir, "tmp"), filepath.Join(dir, "done"), filepath.Join(dir, "root")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("open the cache of artifacts: %w", err)
		}
	}
	in, err := beneath.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("open the cache of artifacts: %w", err)
	}
	defer in.Close()
	if err := in.RemoveAll("tmp"); err != nil {
		return nil, fmt.Errorf("clean the cache of artifacts: %w", err)
	}
	if s.tmp, err = in.Make("tmp", 0o700); err != nil {
		return nil, err
	}
	if s.done, err = in.Dir("done"); err != nil {
		s.tmp.Close()
		return nil, err
	}
	if err := s.load(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// load reads the records, and removes results without one.
func (s *Store) load() error {
	entries, err := os.ReadDir(filepath.Join(s.dir, "done"))
	if err != nil {
		return fmt.Errorf("read the cache of artifacts: %w", err)
	}
	for _, e := range entries {
		k := &kept{}
		text, err := os.ReadFile(filepath.Join(s.dir, "done", e.Name(), recordName))
		if err == nil {
			err = json.Unmarshal(text, &k.record)
		}
		info, statErr := e.Info()
		if err != nil || statErr != nil || k.Digest == "" || k.Bytes < 0 {
			if err := s.done.RemoveAll(e.Name()); err != nil {
				return fmt.Errorf("clean the cache of artifacts: %w", err)
			}
			continue
		}
		k.used = info.ModTime()
		s.kept[e.Name()] = k
		s.size += k.Bytes
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shrink()
	return nil
}

// Close waits for fetches, whose callers must have left, and releases the store.
func (s *Store) Close() {
	s.running.Wait()
	s.tmp.Close()
	s.done.Close()
}

// Get returns the result of a key, which it makes if necessary. The result stays until release.
func (s *Store) Get(ctx context.Context, key string, write makeFunc) (*Result, error) {
	for {
		s.mu.Lock()
		if k := s.kept[key]; k != nil {
			used := time.Now()
			k.pins++
			k.used = used
			s.mu.Unlock()
			now := unix.NsecToTimespec(used.UnixNano())
			unix.UtimesNanoAt(s.done.Fd(), key, []unix.Timespec{now, now}, unix.AT_SYMLINK_NOFOLLOW) // for the next agent; a loss is harmless
			return &Result{dir: s.done, name: key, digest: k.Digest, release: s.unpin(key, k)}, nil
		}
		f := s.fetches[key]
		own := f == nil
		if own {
			f = s.start(ctx, key, write)
		}
		f.waiters++
		s.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			s.leave(key, f)
			return nil, ctx.Err()
		}
		// Another caller may have other credentials: each one tries its own.
		if f.err != nil && (own || ctx.Err() != nil) {
			return nil, f.err
		}
	}
}

func (s *Store) unpin(key string, k *kept) func() {
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		k.pins--
		s.shrink()
	})
}

func (s *Store) leave(key string, f *fetch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.waiters--; f.waiters == 0 && s.fetches[key] == f {
		f.cancel()
		delete(s.fetches, key) // a later caller must not join a canceled fetch
	}
}

// start begins a fetch. The caller holds the mutex.
func (s *Store) start(ctx context.Context, key string, write makeFunc) *fetch {
	f := &fetch{done: make(chan struct{})}
	ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.fetches[key] = f
	s.running.Go(func() {
		defer close(f.done)
		defer f.cancel()
		f.err = s.make(ctx, key, f, write)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.fetches[key] == f {
			delete(s.fetches, key)
		}
	})
	return f
}

// make makes a result below tmp, and moves it to its place.
func (s *Store) make(ctx context.Context, key string, f *fetch, write makeFunc) (err error) {
	name, err := s.prepare(ctx, write)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.tmp.RemoveAll(name))
		}
	}()
	dir, err := s.tmp.Dir(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	files, err := dir.Dir(filesName)
	if err != nil {
		return err
	}
	defer files.Close()
	c := newCopier()
	if err := c.tree(files, nil); err != nil {
		return err
	}
	rec := record{Digest: c.sum(), Bytes: c.bytes}
	text, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	file, err := dir.Create(recordName, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fetches[key] != f {
		return context.Canceled // all callers have left
	}
	if err := unix.Renameat(s.tmp.Fd(), name, s.done.Fd(), key); err != nil {
		return fmt.Errorf("keep the artifact: %w", err)
	}
	// The callers that wait find it even if it is too large to be kept for others: the first pin
	// comes before the next call of shrink.
	s.kept[key] = &kept{record: rec, used: time.Now()}
	s.size += rec.Bytes
	return nil
}

// prepare makes a result in a new directory below tmp, and returns the directory's name.
func (s *Store) prepare(ctx context.Context, write makeFunc) (name string, err error) {
	s.mu.Lock()
	s.next++
	name = strconv.Itoa(s.next)
	s.mu.Unlock()
	dir, err := s.tmp.Make(name, 0o700)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	work, err := dir.Make("work", 0o700)
	if err != nil {
		return "", err
	}
	work.Close()
	err = write(ctx, filepath.Join(s.dir, "tmp", name, "work"))
	if err == nil {
		// Nothing of the fetch remains but its result.
		err = unix.Renameat(dir.Fd(), "work/"+filesName, dir.Fd(), filesName)
	}
	if err == nil {
		err = dir.RemoveAll("work")
	}
	if err != nil {
		return "", errors.Join(err, s.tmp.RemoveAll(name))
	}
	return name, nil
}

// Once makes a result that is not kept.
func (s *Store) Once(ctx context.Context, write makeFunc) (*Result, error) {
	name, err := s.prepare(ctx, write)
	if err != nil {
		return nil, err
	}
	return &Result{dir: s.tmp, name: name, release: func() { s.tmp.RemoveAll(name) }}, nil
}

// shrink removes the results that were not used for the longest time until the limit is met. The
// caller holds the mutex.
func (s *Store) shrink() {
	for s.size > s.limit {
		var oldest string
		for key, k := range s.kept {
			if k.pins == 0 && (oldest == "" || k.used.Before(s.kept[oldest].used)) {
				oldest = key
			}
		}
		if oldest == "" {
			return
		}
		s.drop(oldest)
	}
}

// drop removes a result. The caller holds the mutex.
func (s *Store) drop(key string) {
	s.size -= s.kept[key].Bytes
	delete(s.kept, key)
	s.next++
	name := "old-" + strconv.Itoa(s.next)
	if unix.Renameat(s.done.Fd(), key, s.tmp.Fd(), name) == nil {
		s.running.Go(func() { s.tmp.RemoveAll(name) }) // the next Open removes what is left
	}
}

// Discard removes a result that its record does not describe. Users of it keep their handles.
func (s *Store) Discard(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept[key] != nil {
		s.drop(key)
	}
}
