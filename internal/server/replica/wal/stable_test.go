// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
)

// voted makes a directory whose votes are of term 5.
func voted(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s, err := OpenStable(disk.OS, dir, true, Watch{})
	if err != nil {
		t.Fatal(err)
	}
	for term := uint64(1); term <= 5; term++ {
		if err := s.SetUint64([]byte("CurrentTerm"), term); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDamageToOneSlotLosesNoVote(t *testing.T) {
	for _, at := range []int{0, 3, 17, 30, slotSize, slotSize + 5, slotSize + 20} {
		dir := voted(t)
		path := filepath.Join(dir, "stable")
		for range 2 { // the first Open mends it
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b[at] ^= 1
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := OpenStable(disk.OS, dir, false, Watch{})
			if err != nil {
				t.Fatalf("byte %d damaged: %v", at, err)
			}
			if got, _ := s.GetUint64([]byte("CurrentTerm")); got != 5 {
				t.Errorf("byte %d damaged: CurrentTerm = %d, want 5", at, got)
			}
			s.Close()
		}
	}
}

func TestLostVotesAreRefused(t *testing.T) {
	for name, lose := range map[string]func(b []byte) []byte{
		"removed":    nil,
		"emptied":    func([]byte) []byte { return nil },
		"cut short":  func(b []byte) []byte { return b[:slotSize] },
		"zeroed":     func(b []byte) []byte { clear(b); return b },
		"both slots": func(b []byte) []byte { b[20] ^= 1; b[slotSize+20] ^= 1; return b },
	} {
		t.Run(name, func(t *testing.T) {
			dir := voted(t)
			path := filepath.Join(dir, "stable")
			if lose == nil {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			} else {
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, lose(b), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := OpenStable(disk.OS, dir, false, Watch{})
			if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "put it back from a copy") {
				t.Errorf("OpenStable: %v; want an error that names %s and says what to do", err, path)
			}
		})
	}
}

// TestVotesOfAnEarlierVersion reads a file whose slots were written in turn.
func TestVotesOfAnEarlierVersion(t *testing.T) {
	dir := voted(t)
	path := filepath.Join(dir, "stable")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenStable(disk.OS, dir, false, Watch{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetUint64([]byte("CurrentTerm"), 6); err != nil {
		t.Fatal(err)
	}
	s.Close()
	newer, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(b[:slotSize:slotSize], newer[slotSize:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = OpenStable(disk.OS, dir, false, Watch{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, _ := s.GetUint64([]byte("CurrentTerm")); got != 6 {
		t.Errorf("CurrentTerm = %d, want 6", got)
	}
}
