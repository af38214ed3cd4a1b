// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"testing"
)

// FuzzDecodeCommands decodes and applies anything. What can be decoded can be
// encoded and applied; nothing panics.
func FuzzDecodeCommands(f *testing.F) {
	for _, c := range goldens() {
		f.Add(EncodeCommands([]Command{c}))
	}
	f.Add(EncodeCommands(every()))
	f.Fuzz(func(t *testing.T, data []byte) {
		commands, err := DecodeCommands(data)
		if err != nil {
			return
		}
		if _, err := DecodeCommands(EncodeCommands(commands)); err != nil {
			t.Fatalf("what was decoded cannot be encoded and decoded again: %v", err)
		}
		s := New()
		s.Apply(1, commands)
		s.Apply(2, commands)
		dumpOf(s.Snapshot())
	})
}

// FuzzRestore restores anything: it fails, or yields a store that can be read
// and written again.
func FuzzRestore(f *testing.F) {
	var file bytes.Buffer
	if _, err := clusterStore(f).Snapshot().WriteTo(&file); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add([]byte(snapshotMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Restore(bytes.NewReader(reseal(data)))
		if err != nil {
			return
		}
		dumpOf(s.Snapshot())
		var again bytes.Buffer
		if _, err := s.Snapshot().WriteTo(&again); err != nil {
			t.Fatalf("what was restored cannot be written: %v", err)
		}
	})
}
