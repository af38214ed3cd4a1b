// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
)

// TestRecordsOfAnySizeAreRead opens segments whose records and batches are smaller and larger
// than a window, with zeros behind them.
func TestRecordsOfAnySizeAreRead(t *testing.T) {
	const size = 32 * windowBytes
	for name, sizes := range map[string][]int{
		"small":                        {0, 1, 40, 4000},
		"a window":                     {windowBytes - prefixSize - fixedSize, windowBytes, 10},
		"larger than a window":         {3 * windowBytes, 10, 5*windowBytes + 3, 1},
		"larger than a pool's":         {maxBuffer + 1, 10},
		"across a window's end":        {windowBytes - 100, 200, windowBytes - 50, 300},
		"a batch larger than a window": {windowBytes / 2, windowBytes / 2, windowBytes / 2, windowBytes / 2},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l, err := Open(disk.OS, dir, size, 0, Watch{})
			if err != nil {
				t.Fatal(err)
			}
			var want []*raft.Log
			for i, n := range sizes {
				want = append(want, entry(uint64(i+1), n))
			}
			if err := l.StoreLogs(want); err != nil {
				t.Fatal(err)
			}
			l.Close()
			l = open(t, dir)
			got := contents(t, l)
			if len(got) != len(want) {
				t.Fatalf("%d entries, want %d", len(got), len(want))
			}
			for i := range want { // cmp.Diff takes minutes for megabytes
				if got[i].Index != want[i].Index || !bytes.Equal(got[i].Data, want[i].Data) {
					t.Errorf("entry %d is another one", i+1)
				}
			}
			if l.segments[0].unclean {
				t.Error("the zeros behind the records are taken for data")
			}
		})
	}
}

// TestImpossibleLengthTakesNoMemory guards a server against the length of a torn record.
func TestImpossibleLengthTakesNoMemory(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	if err := l.StoreLogs(entries(1, 3, 10)); err != nil {
		t.Fatal(err)
	}
	end := l.segments[0].end
	l.Close()
	f, err := os.OpenFile(segments(t, dir)[0], os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(binary.LittleEndian.AppendUint32(nil, maxRecord), end); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	allocated := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			l, err := Open(disk.OS, dir, 4096, 0, Watch{})
			if err != nil {
				b.Fatal(err)
			}
			if last, _ := l.LastIndex(); last != 3 {
				b.Fatalf("the log ends with entry %d, want 3", last)
			}
			l.Close()
		}
	}).AllocedBytesPerOp()
	if allocated > 8*windowBytes {
		t.Errorf("opening a log of a few entries takes %d bytes", allocated)
	}
}
