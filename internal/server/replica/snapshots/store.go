// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package snapshots

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
)

var _ raft.SnapshotStore = (*Store)(nil)

const (
	temporary = ".tmp"
	retained  = 2
)

// Store is a raft.SnapshotStore.
type Store struct {
	fs      disk.FS
	dir     string
	written atomic.Uint64 // time of the newest snapshot, Unix milliseconds; 0: none
}

// Written returns the time of the newest snapshot; zero without one.
func (s *Store) Written() time.Time {
	if ms := s.written.Load(); ms != 0 {
		return time.UnixMilli(int64(ms))
	}
	return time.Time{}
}

// name is the parsed name of a snapshot's directory.
type name struct{ term, index, milliseconds uint64 }

func (n name) String() string { return fmt.Sprintf("%d-%d-%d", n.term, n.index, n.milliseconds) }

func parseName(s string) (n name, ok bool) {
	_, err := fmt.Sscanf(s, "%d-%d-%d", &n.term, &n.index, &n.milliseconds)
	return n, err == nil && n.String() == s
}

func compare(a, b name) int {
	return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(a.index, b.index), cmp.Compare(a.milliseconds, b.milliseconds))
}

// Open opens or creates the directory, and removes unfinished snapshots.
func Open(fs disk.FS, dir string) (*Store, error) {
	s := &Store{fs: fs, dir: dir}
	if err := disk.MakeDir(fs, dir); err != nil {
		return nil, err
	}
	names, err := fs.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if strings.HasSuffix(n, temporary) {
			if err := disk.RemoveAll(fs, filepath.Join(dir, n)); err != nil {
				return nil, fmt.Errorf("remove an unfinished snapshot: %w", err)
			}
		}
	}
	// After a crash, a name may be only in memory: sync it before relying on it.
	if err := fs.SyncDir(dir); err != nil {
		return nil, &disk.SyncError{Path: dir, Err: err}
	}
	if kept, err := s.names(); err == nil && len(kept) > 0 {
		s.written.Store(kept[0].milliseconds)
	}
	return s, nil
}

// names returns the snapshots, newest first.
func (s *Store) names() ([]name, error) {
	entries, err := s.fs.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var names []name
	for _, e := range entries {
		if n, ok := parseName(e); ok {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, func(a, b name) int { return compare(b, a) })
	return names, nil
}

// Snapshot describes a snapshot.
type Snapshot struct {
	raft.SnapshotMeta
	Sealed bool // it has checksums of all its files
}

// Newest describes the newest snapshot; nil if the store is empty.
func (s *Store) Newest() (*Snapshot, error) {
	names, err := s.names()
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	if len(names) == 0 {
		return nil, nil
	}
	m, err := s.readMeta(names[0])
	if err != nil {
		return nil, s.damaged(names[0].String(), err)
	}
	return &Snapshot{m.SnapshotMeta, m.sum != ""}, nil
}

// List implements raft.SnapshotStore: it returns at most the newest snapshot.
func (s *Store) List() ([]*raft.SnapshotMeta, error) {
	newest, err := s.Newest()
	if newest == nil {
		return nil, err
	}
	return []*raft.SnapshotMeta{&newest.SnapshotMeta}, nil
}

// Open implements raft.SnapshotStore. It verifies the snapshot before it returns it.
func (s *Store) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	n, ok := parseName(id)
	if !ok {
		return nil, nil, fmt.Errorf("open snapshot %q: that is no snapshot's name", id)
	}
	m, err := s.readMeta(n)
	if err != nil {
		return nil, nil, s.damaged(id, err)
	}
	f, err := s.openState(n, m)
	if err != nil {
		return nil, nil, s.damaged(id, err)
	}
	return &m.SnapshotMeta, f, nil
}

// damaged returns the error of a damaged snapshot, with the next step.
func (s *Store) damaged(id string, err error) error {
	return fmt.Errorf("snapshot %s is damaged: %w; nothing was changed; put it back from a copy; or move it away, "+
		"and an older one is used if the log reaches back to it; or start with an empty data directory: in a cluster, remove this server and join again; a single server restores a snapshot",
		filepath.Join(s.dir, id), err)
}

// Damaged returns the error of a snapshot whose files are intact but contradict its
// state.
func (s *Store) Damaged(id string, err error) error { return s.damaged(id, err) }

// Create implements raft.SnapshotStore.
func (s *Store) Create(version raft.SnapshotVersion, index, term uint64, servers raft.Configuration, serversIndex uint64, _ raft.Transport) (raft.SnapshotSink, error) {
	if version != raft.SnapshotVersionMax {
		return nil, fmt.Errorf("write snapshot: version %d is not known", version)
	}
	n := name{term, index, uint64(time.Now().UnixMilli())}
	k := &sink{store: s, name: n, meta: meta{SnapshotMeta: raft.SnapshotMeta{
		Version: version, ID: n.String(), Index: index, Term: term, Configuration: servers, ConfigurationIndex: serversIndex,
	}}}
	if err := k.begin(); err != nil {
		return nil, fmt.Errorf("write snapshot: %w", disk.Explain(s.fs, s.dir, err))
	}
	return k, nil
}

// reap removes snapshots that newer ones replace.
func (s *Store) reap() error {
	names, err := s.names()
	if err != nil {
		return err
	}
	for _, n := range names[min(retained, len(names)):] {
		path := filepath.Join(s.dir, n.String())
		if err := s.fs.Rename(path, path+temporary); err != nil {
			return err
		}
		if err := s.fs.SyncDir(s.dir); err != nil {
			return &disk.SyncError{Path: s.dir, Err: err}
		}
		if err := disk.RemoveAll(s.fs, path+temporary); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}
