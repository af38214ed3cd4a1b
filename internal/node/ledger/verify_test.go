// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// written is a ledger's file with values of all sizes, on several levels of pages.
func written(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "node.db")
	l := open(t, path)
	for i := range 500 {
		l.Put(fmt.Sprintf("allocation/%04d/%s", i, bytes.Repeat([]byte("x"), 60)), bytes.Repeat([]byte("v"), 1+i%7*500))
		if i%100 == 0 {
			if err := l.Put("last", []byte(fmt.Sprint(i))).Wait(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// A damaged file is refused, or it is opened and read as a whole: the process ends
// in neither case.
func TestDamagedFileEndsNoProcess(t *testing.T) {
	whole, size := written(t), os.Getpagesize()
	if err := verify(bytes.NewReader(whole), int64(len(whole))); err != nil {
		t.Fatalf("a whole file is refused: %v", err)
	}
	path := filepath.Join(t.TempDir(), "node.db")
	refused := 0
	try := func(what string, file []byte) (is bool) {
		t.Helper()
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Open(path)
		if err != nil {
			refused++
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: the error is %v", what, err)
			}
			return true
		}
		defer l.Close()
		if err := errors.Join(l.Each("", func(string, []byte) error { return nil }), l.Put("new", []byte("value")).Wait()); err != nil {
			t.Errorf("%s: it was opened, and then: %v", what, err)
		}
		return false
	}
	changed := func(change func([]byte)) []byte {
		file := bytes.Clone(whole)
		change(file)
		return file
	}
	if try("emptied", nil) {
		t.Error("an empty file is not taken for a new one")
	}
	if try("one head zeroed", changed(func(b []byte) { clear(b[:size]) })) {
		t.Error("a file with one of its two heads is refused")
	}
	for what, file := range map[string][]byte{
		"zeroed": make([]byte, len(whole)), "cut in half": whole[:len(whole)/2], "cut after its heads": whole[:2*size], "of one page": whole[:size],
		"of one byte": whole[:1], "both heads zeroed": changed(func(b []byte) { clear(b[:2*size]) }), "all but its heads zeroed": changed(func(b []byte) { clear(b[2*size:]) }),
	} {
		if !try(what, file) {
			t.Errorf("a file that was %s is not refused", what)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		page := rng.IntN(len(whole)/size-2) + 2
		try(fmt.Sprintf("page %d zeroed", page), changed(func(b []byte) { clear(b[page*size : (page+1)*size]) }))
		at := page*size + rng.IntN(256)
		try(fmt.Sprintf("byte %d changed", at), changed(func(b []byte) { b[at] ^= byte(1 + rng.IntN(255)) }))
		from := rng.IntN(len(whole)/size-2) + 2
		try(fmt.Sprintf("page %d in the place of page %d", from, page), changed(func(b []byte) { copy(b[page*size:(page+1)*size], whole[from*size:]) }))
	}
	if refused < 30 {
		t.Errorf("%d damaged files were refused: too few to mean anything", refused)
	}
}
