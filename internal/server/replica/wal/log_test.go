// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/raft"
	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
)

func open(t testing.TB, dir string) *Log {
	t.Helper()
	l, err := Open(disk.OS, dir, 4096, 0, Watch{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// entry makes an entry whose data says which one it is.
func entry(index uint64, size int) *raft.Log {
	data := append(fmt.Appendf(nil, "entry %d ", index), bytes.Repeat([]byte{byte(index)}, size)...)
	return &raft.Log{Index: index, Term: index / 10, Type: raft.LogCommand, Data: data, Extensions: []byte("x"), AppendedAt: time.Unix(1, int64(index))}
}

func entries(from, to uint64, size int) []*raft.Log {
	var out []*raft.Log
	for i := from; i <= to; i++ {
		out = append(out, entry(i, size))
	}
	return out
}

// contents reads the whole log.
func contents(t testing.TB, l *Log) []*raft.Log {
	t.Helper()
	first, _ := l.FirstIndex()
	last, _ := l.LastIndex()
	var out []*raft.Log
	for i := first; i <= last && last > 0; i++ {
		var e raft.Log
		if err := l.GetLog(i, &e); err != nil {
			t.Fatalf("entry %d: %v", i, err)
		}
		out = append(out, &e)
	}
	return out
}

func segments(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no segments: %v", err)
	}
	slices.Sort(names)
	return names
}

func TestReopenedLogHoldsWhatWasAppended(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	for i := uint64(1); i <= 300; i += 3 {
		if err := l.StoreLogs(entries(i, i+2, 50)); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	if n := len(segments(t, dir)); n < 5 {
		t.Errorf("%d segments: the log was to be cut into several", n)
	}
	if diff := cmp.Diff(entries(1, 300, 50), contents(t, open(t, dir))); diff != "" {
		t.Error(diff)
	}
}

// TestLogIsAList compares the log with a slice through random appends,
// deletions, crashes in the middle of an append, and reopening.
func TestLogIsAList(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp("", "wal")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		var list []*raft.Log
		next := uint64(1)
		l, err := Open(disk.OS, dir, 2048, 0, Watch{})
		if err != nil {
			r.Fatal(err)
		}
		defer func() { l.Close() }()
		for range rapid.IntRange(1, 20).Draw(r, "steps") {
			switch rapid.IntRange(0, 6).Draw(r, "step") {
			case 0, 1, 2:
				batch := entries(next, next+uint64(rapid.IntRange(0, 5).Draw(r, "more")), rapid.IntRange(0, 300).Draw(r, "size"))
				if err := l.StoreLogs(batch); err != nil {
					r.Fatal(err)
				}
				list = append(list, batch...)
				next += uint64(len(batch))
			case 3: // compaction
				if len(list) > 0 {
					n := rapid.IntRange(1, len(list)).Draw(r, "oldest")
					if err := l.DeleteRange(list[0].Index, list[n-1].Index); err != nil {
						r.Fatal(err)
					}
					list = list[n:]
				}
			case 4: // another leader's log
				if len(list) > 0 {
					n := rapid.IntRange(0, len(list)-1).Draw(r, "keep")
					if err := l.DeleteRange(list[n].Index, list[len(list)-1].Index); err != nil {
						r.Fatal(err)
					}
					next = list[n].Index
					list = list[:n]
				}
			case 5: // a snapshot from far ahead
				if len(list) > 0 {
					if err := l.DeleteRange(list[0].Index, list[len(list)-1].Index); err != nil {
						r.Fatal(err)
					}
					list = nil
				}
				next += 100
			case 6:
				l.Close()
				if len(list) > 0 {
					tear(r, dir, next)
				}
				if l, err = Open(disk.OS, dir, 2048, 0, Watch{}); err != nil {
					r.Fatal(err)
				}
				// What compaction deleted in part is back: entries before the first.
				if len(list) > 0 {
					if err := l.DeleteRange(1, list[0].Index-1); err != nil {
						r.Fatal(err)
					}
				} else if last, _ := l.LastIndex(); last > 0 {
					if err := l.DeleteRange(1, last); err != nil {
						r.Fatal(err)
					}
				}
			}
			if diff := cmp.Diff(list, contents(t, l)); diff != "" && len(list) > 0 {
				r.Fatalf("(-list +log):\n%s", diff)
			}
		}
	})
}

// tear leaves part of an append of the next entries at the end of the log.
func tear(r *rapid.T, dir string, next uint64) {
	names, _ := filepath.Glob(filepath.Join(dir, "*.log"))
	slices.Sort(names)
	s, err := openSegment(disk.OS, names[len(names)-1], firstOf(names[len(names)-1]), true)
	if err != nil {
		r.Fatal(err)
	}
	defer s.file.Close()
	if s.last()+1 != next {
		return
	}
	var b []byte
	for _, e := range entries(next, next+2, 20) {
		b = appendRecord(b, e, next)
	}
	// Sectors reach the disk in any order: some of them are missing.
	for i := 0; i < len(b); i += 32 {
		if i == 0 || rapid.Bool().Draw(r, "lost") {
			clear(b[i:min(i+32, len(b))])
		}
	}
	if _, err := s.file.WriteAt(b, s.end); err != nil {
		r.Fatal(err)
	}
}

func firstOf(path string) (first uint64) {
	fmt.Sscanf(filepath.Base(path), "%020d.log", &first)
	return first
}

func TestDamageIsToldFromATornAppend(t *testing.T) {
	tests := []struct {
		name   string
		damage func(b []byte, offsets []int64) []byte
		last   uint64 // that is left; 0 for an error
	}{
		{"last record cut", func(b []byte, o []int64) []byte { return b[:o[9]+20] }, 9},
		{"last record garbled", func(b []byte, o []int64) []byte { b[o[9]+50] ^= 1; return b }, 9},
		{"bytes after the last record", func(b []byte, o []int64) []byte { return append(b[:o[9]], "garbage that is no record"...) }, 9},
		{"record in the middle garbled", func(b []byte, o []int64) []byte { b[o[4]+50] ^= 1; return b }, 0},
		{"length in the middle garbled", func(b []byte, o []int64) []byte { b[o[4]+1] ^= 0xff; return b }, 0},
		{"record in the middle zeroed", func(b []byte, o []int64) []byte { clear(b[o[4]:o[5]]); return b }, 0},
		{"header garbled", func(b []byte, _ []int64) []byte { b[9] ^= 1; return b }, 0},
		{"record lost and the rest moved up", func(b []byte, o []int64) []byte { return append(b[:o[4]:o[4]], b[o[5]:]...) }, 0},
		{"newer format", func(b []byte, _ []int64) []byte {
			h := appendHeader(nil, 1)
			binary.LittleEndian.PutUint32(h[8:], 99)
			return append(h, b[headerSize:]...)
		}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			l := open(t, dir)
			for i := uint64(1); i <= 10; i++ {
				if err := l.StoreLog(entry(i, 40)); err != nil {
					t.Fatal(err)
				}
			}
			offsets := l.segments[0].offsets
			l.Close()
			path := segments(t, dir)[0]
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, test.damage(b, offsets), 0o600); err != nil {
				t.Fatal(err)
			}
			l, err = Open(disk.OS, dir, 4096, 0, Watch{})
			if test.last == 0 {
				var damage *DamageError
				if !errors.As(err, &damage) || !strings.Contains(err.Error(), path) {
					t.Fatalf("Open: %v; want an error that names %s", err, path)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if last, _ := l.LastIndex(); last != test.last {
				t.Errorf("the log ends with entry %d, want %d", last, test.last)
			}
			if err := l.StoreLogs(entries(test.last+1, test.last+3, 10)); err != nil {
				t.Errorf("append after a torn end: %v", err)
			}
		})
	}
}

func TestMissingSegmentIsNoticed(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	for i := uint64(1); i <= 100; i++ {
		if err := l.StoreLog(entry(i, 200)); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	if err := os.Remove(segments(t, dir)[2]); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(disk.OS, dir, 4096, 0, Watch{}); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Fatalf("Open: %v; want an error about a missing segment", err)
	}
}

func TestFailedAppendLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	if err := l.StoreLogs(entries(1, 3, 10)); err != nil {
		t.Fatal(err)
	}
	good := l.segments[0].file
	l.segments[0].file = readOnly{good}
	if err := l.StoreLogs(entries(4, 6, 10)); err == nil || l.Failure() == nil {
		t.Fatal("an append to a file that cannot be written succeeded")
	}
	if last, _ := l.LastIndex(); last != 3 {
		t.Fatalf("after a failed append the log ends with entry %d, want 3", last)
	}
	l.segments[0].file = good
	if err := l.StoreLogs(entries(4, 5, 10)); err != nil || l.Failure() != nil {
		t.Fatalf("append once the file can be written: %v, %v", err, l.Failure())
	}
	l.Close()
	if diff := cmp.Diff(entries(1, 5, 10), contents(t, open(t, dir))); diff != "" {
		t.Error(diff)
	}
}

// readOnly is a file whose writes fail.
type readOnly struct{ disk.File }

func (readOnly) WriteAt([]byte, int64) (int, error) { return 0, errors.New("read-only") }

func FuzzOpen(f *testing.F) {
	b := appendHeader(nil, 1)
	for i := uint64(1); i < 5; i++ {
		b = appendRecord(b, entry(i, 10), i)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, segmentName(1)), data, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Open(disk.OS, dir, 4096, 0, Watch{})
		if err != nil {
			return
		}
		defer l.Close()
		contents(t, l)
	})
}
