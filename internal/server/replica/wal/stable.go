// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
)

var _ raft.StableStore = (*Stable)(nil)

// Stable is a raft.StableStore: a few values, such as the term and the vote.
//
// It is one file of two slots. Stable writes a value to one slot, syncs it, and then
// writes the other slot: an interrupted write spoils only one slot, and damage to one slot
// loses no acknowledged value. The file never grows, so a full disk cannot prevent a
// vote.
type Stable struct {
	mu       sync.Mutex
	file     disk.File
	watch    Watch
	sequence uint64
	newest   int64 // slot that was read; the other one is written first
	values   map[string][]byte
	broken   error // a sync failed: nothing is written any more
}

const slotSize = 4096

// OpenStable opens the file "stable" in dir. It creates the file only if fresh is true: a
// server with a log or a snapshot must have one.
func OpenStable(fs disk.FS, dir string, fresh bool, watch Watch) (*Stable, error) {
	path := filepath.Join(dir, "stable")
	f, err := fs.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		if !fresh {
			return nil, lostVotes(path, "is missing beside a log")
		}
		f, err = fs.Create(path)
	}
	if err != nil {
		return nil, err
	}
	s := &Stable{file: f, watch: watch, values: map[string][]byte{}}
	if err := s.load(fresh); err != nil {
		f.Close()
		return nil, err
	}
	if err := syncDir(fs, dir); err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

func lostVotes(path, problem string) error {
	return fmt.Errorf("%s %s: it holds this server's votes, and without them it could vote twice; "+
		"put it back from a copy, or start with an empty data directory: in a cluster, remove this server and join again; a single server restores a snapshot", path, problem)
}

func (s *Stable) load(fresh bool) error {
	var b [2 * slotSize]byte
	n, err := s.file.ReadAt(b[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if n < len(b) || isZero(b[:]) { // its making was cut short
		if !fresh {
			return lostVotes(s.file.Name(), "is empty beside a log")
		}
		return s.write()
	}
	for i, slot := range [][]byte{b[:slotSize], b[slotSize:]} {
		size := binary.LittleEndian.Uint32(slot[4:])
		if size > slotSize-16 || crc32.Checksum(slot[4:16+size], castagnoli) != binary.LittleEndian.Uint32(slot) {
			continue
		}
		sequence := binary.LittleEndian.Uint64(slot[8:])
		values := map[string][]byte{}
		if sequence > s.sequence && json.Unmarshal(slot[16:16+size], &values) == nil {
			s.sequence, s.values, s.newest = sequence, values, int64(i)
		}
	}
	if s.sequence == 0 {
		return lostVotes(s.file.Name(), "is damaged")
	}
	// The previous process may have been killed before the values were on the disk, and
	// one slot may be damaged.
	return s.write()
}

// Set stores a value and returns when it is on the disk.
func (s *Stable) Set(key, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, had := s.values[string(key)]
	s.values[string(key)] = value
	if err := s.write(); err != nil {
		if delete(s.values, string(key)); had {
			s.values[string(key)] = old
		}
		return fmt.Errorf("write %s: %w", s.file.Name(), err)
	}
	return nil
}

// Sync rewrites the stored values, to test the disk.
func (s *Stable) Sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write()
}

func (s *Stable) write() error {
	if s.broken != nil {
		return s.broken
	}
	text, err := json.Marshal(s.values)
	if err != nil {
		return err
	}
	if len(text) > slotSize-16 {
		return fmt.Errorf("%d bytes do not fit", len(text))
	}
	b := make([]byte, slotSize)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(text)))
	binary.LittleEndian.PutUint64(b[8:], s.sequence+1)
	copy(b[16:], text)
	binary.LittleEndian.PutUint32(b, crc32.Checksum(b[4:16+len(text)], castagnoli))
	for _, slot := range []int64{1 - s.newest, s.newest} {
		if _, err := s.file.WriteAt(b, slot*slotSize); err != nil {
			return err
		}
		began := s.watch.begin()
		if err := s.file.SyncData(); err != nil {
			s.broken = &disk.SyncError{Path: s.file.Name(), Err: err}
			s.watch.broken(s.broken)
			return s.broken
		}
		s.watch.synced(began)
	}
	s.sequence++
	return nil
}

// Get returns a value; nil if it was never set.
func (s *Stable) Get(key []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[string(key)], nil
}

// SetUint64 stores a number.
func (s *Stable) SetUint64(key []byte, value uint64) error {
	return s.Set(key, binary.LittleEndian.AppendUint64(nil, value))
}

// GetUint64 returns a number; 0 if it was never set.
func (s *Stable) GetUint64(key []byte) (uint64, error) {
	b, err := s.Get(key)
	if err != nil || len(b) != 8 {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// Close closes the file.
func (s *Stable) Close() error { return s.file.Close() }
