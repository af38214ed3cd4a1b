// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package ledger is the durable memory of a node agent across restarts: one value per key,
// in a bbolt file.
//
// Writes are committed in groups: all writes that arrive during the fsync of one commit form
// the next one, so a thousand tasks that start together cost a few fsyncs. Within a key, a
// newer write replaces an older one that is still waiting. Values that change often are
// passed as functions, which are called when the value is written. The ledger does not
// interpret values.
package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"golang.org/x/sys/unix"
)

var bucket = []byte("v1")

// A Ledger is one open file. It is safe for concurrent use.
type Ledger struct {
	db *bolt.DB

	mu     sync.Mutex
	next   *Commit // the next commit; nil if no write waits
	closed bool

	wake chan struct{}
	done chan struct{}
}

// A Commit is a group of writes that become durable together.
type Commit struct {
	writes map[string]func() []byte // returns nil to delete the key
	done   chan struct{}
	err    error
}

// Wait blocks until the group is durable, or has failed.
func (c *Commit) Wait() error {
	<-c.done
	return c.err
}

// ErrClosed is the error of writes to a closed ledger.
var ErrClosed = errors.New("the node's ledger is closed")

// Open opens or creates the ledger at path. It locks the file: a second process receives an
// error.
func Open(path string) (*Ledger, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("create the node's data directory: %w", err)
	}
	if err := inspect(path); err != nil {
		return nil, err
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{
		Timeout:        2 * time.Second,
		NoFreelistSync: true,
		FreelistType:   bolt.FreelistMapType,
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("%s is in use by another agent: stop it, or give this one another data directory", path)
	case err != nil:
		return nil, fmt.Errorf("open the node's ledger %s: %w", path, err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	})
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("prepare the node's ledger %s: %w", path, err)
	}
	l := &Ledger{db: db, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go l.write()
	return l, nil
}

// ErrDamaged is wrapped by the error of Open if the file is damaged.
var ErrDamaged = errors.New("the file is damaged")

// inspect rejects a damaged file. It skips a file that another process has locked, which Open
// reports.
func inspect(path string) error {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("open the node's ledger: %w", err)
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open the node's ledger: %w", err)
	}
	if info.Size() == 0 { // a new file
		return nil
	}
	if err := verify(f, info.Size()); err != nil {
		return fmt.Errorf("open the node's ledger %s: %w (%w); move it away and start the agent again: it gets back what it ran from the servers and the supervisor of its tasks",
			path, ErrDamaged, err)
	}
	return nil
}

// Put stores value under key. It returns immediately; Wait on the result blocks until the
// value is durable. The ledger keeps value.
func (l *Ledger) Put(key string, value []byte) *Commit {
	return l.add(key, func() []byte { return value })
}

// PutLatest stores what value returns when the write is made, which is never
// older than now. It is called from another goroutine, without locks held.
func (l *Ledger) PutLatest(key string, value func() []byte) *Commit { return l.add(key, value) }

// Delete removes key.
func (l *Ledger) Delete(key string) *Commit { return l.Put(key, nil) }

func (l *Ledger) add(key string, value func() []byte) *Commit {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		refused := &Commit{done: make(chan struct{}), err: ErrClosed}
		close(refused.done)
		return refused
	}
	if l.next == nil {
		l.next = &Commit{writes: map[string]func() []byte{}, done: make(chan struct{})}
	}
	l.next.writes[key] = value
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return l.next
}

// write commits groups until the ledger is closed. One goroutine runs it.
func (l *Ledger) write() {
	defer close(l.done)
	for {
		l.mu.Lock()
		c, closed := l.next, l.closed
		l.next = nil
		l.mu.Unlock()
		if c != nil {
			c.err = l.commit(c.writes)
			if c.err != nil {
				l.keep(c.writes)
			}
			close(c.done)
			continue
		}
		if closed {
			return
		}
		<-l.wake
	}
}

// keep returns failed writes to the next group, which the next Put starts.
func (l *Ledger) keep(writes map[string]func() []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.next == nil {
		return
	}
	for k, v := range writes {
		if _, newer := l.next.writes[k]; !newer {
			l.next.writes[k] = v
		}
	}
}

func (l *Ledger) commit(writes map[string]func() []byte) error {
	values := make(map[string][]byte, len(writes))
	for k, value := range writes {
		values[k] = value()
	}
	err := l.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucket)
		for k, v := range values {
			var err error
			if v == nil {
				err = b.Delete([]byte(k))
			} else {
				err = b.Put([]byte(k), v)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write the node's ledger: %w", err)
	}
	return nil
}

// Get returns the durable value of key; nil if the key does not exist.
func (l *Ledger) Get(key string) []byte {
	var value []byte
	l.db.View(func(tx *bolt.Tx) error {
		if v := tx.Bucket(bucket).Get([]byte(key)); v != nil {
			value = append([]byte{}, v...)
		}
		return nil
	})
	return value
}

// Each calls do for every durable key with a prefix, in order. do must not keep value.
func (l *Ledger) Each(prefix string, do func(key string, value []byte) error) error {
	return l.db.View(func(tx *bolt.Tx) error {
		c := tx.Bucket(bucket).Cursor()
		for k, v := c.Seek([]byte(prefix)); k != nil && len(k) >= len(prefix) && string(k[:len(prefix)]) == prefix; k, v = c.Next() {
			if err := do(string(k), v); err != nil {
				return err
			}
		}
		return nil
	})
}

// Close commits the waiting writes and closes the file.
func (l *Ledger) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
	<-l.done
	return l.db.Close()
}
