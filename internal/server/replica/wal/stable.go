// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/raft"
	"golang.org/x/sys/unix"
)

var _ raft.StableStore = (*Stable)(nil)

// Stable is a raft.StableStore: a few values, such as the term and the vote. It
// is one file of two slots that are written in turn, so the older one is whole
// whatever happens to a write, and a full disk cannot keep a vote from being
// stored.
type Stable struct {
	mu       sync.Mutex
	file     *os.File
	sequence uint64
	values   map[string][]byte
}

const slotSize = 4096

// OpenStable opens the file "stable" in dir, or makes it.
func OpenStable(dir string) (*Stable, error) {
	path := filepath.Join(dir, "stable")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	s := &Stable{file: f, values: map[string][]byte{}}
	if err := s.load(dir); err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

func (s *Stable) load(dir string) error {
	var b [2 * slotSize]byte
	n, _ := s.file.ReadAt(b[:], 0)
	if n < len(b) || isZero(b[:]) { // new, or its making was cut short
		if _, err := s.file.WriteAt(make([]byte, len(b)), 0); err != nil {
			return err
		}
		if err := s.file.Sync(); err != nil {
			return err
		}
		return syncDir(dir)
	}
	for _, slot := range [][]byte{b[:slotSize], b[slotSize:]} {
		size := binary.LittleEndian.Uint32(slot[4:])
		if size > slotSize-16 || crc32.Checksum(slot[4:16+size], castagnoli) != binary.LittleEndian.Uint32(slot) {
			continue
		}
		sequence := binary.LittleEndian.Uint64(slot[8:])
		values := map[string][]byte{}
		if sequence > s.sequence && json.Unmarshal(slot[16:16+size], &values) == nil {
			s.sequence, s.values = sequence, values
		}
	}
	if s.sequence == 0 {
		return fmt.Errorf("%s is damaged: it holds this server's votes; put it back from a copy, or start with an empty data directory and restore a snapshot", s.file.Name())
	}
	return nil
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

func (s *Stable) write() error {
	text, err := json.Marshal(s.values)
	if err != nil {
		return err
	}
	if len(text) > slotSize-16 {
		return fmt.Errorf("%d bytes do not fit", len(text))
	}
	b := make([]byte, 16, slotSize)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(text)))
	binary.LittleEndian.PutUint64(b[8:], s.sequence+1)
	b = append(b, text...)
	binary.LittleEndian.PutUint32(b, crc32.Checksum(b[4:], castagnoli))
	if _, err := s.file.WriteAt(b, int64((s.sequence+1)%2)*slotSize); err != nil {
		return err
	}
	if err := unix.Fdatasync(int(s.file.Fd())); err != nil {
		return err
	}
	s.sequence++
	return nil
}

// Get returns a value, nil if it was never set.
func (s *Stable) Get(key []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[string(key)], nil
}

// SetUint64 stores a number.
func (s *Stable) SetUint64(key []byte, value uint64) error {
	return s.Set(key, binary.LittleEndian.AppendUint64(nil, value))
}

// GetUint64 returns a number, 0 if it was never set.
func (s *Stable) GetUint64(key []byte) (uint64, error) {
	b, err := s.Get(key)
	if err != nil || len(b) != 8 {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// Close closes the file.
func (s *Stable) Close() error { return s.file.Close() }
