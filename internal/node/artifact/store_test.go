// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// making returns a function that makes a result of one file.
func making(body string) makeFunc {
	return func(_ context.Context, work string) error {
		if err := os.Mkdir(filepath.Join(work, filesName), 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(work, filesName, "x"), []byte(body), 0o644)
	}
}

func openStore(t *testing.T, dir string, limit int64) *Store {
	t.Helper()
	s, err := OpenStore(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func keep(t *testing.T, s *Store, key, body string) {
	t.Helper()
	r, err := s.Get(t.Context(), key, making(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Release()
}

func TestStoreDropsTheLeastRecentlyUsed(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, 3*(blockSize+5))
	for _, key := range []string{"a", "b", "c"} {
		keep(t, s, key, "12345")
	}
	keep(t, s, "a", "used again")
	keep(t, s, "d", "12345")
	s.Close()
	s = openStore(t, dir, 3*(blockSize+5))
	defer s.Close()
	for key, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		if got := s.kept[key] != nil; got != want {
			t.Errorf("result %s is kept: %t, want %t", key, got, want)
		}
	}
}

func TestStoreForgetsWhatIsNotFinished(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, 1<<20)
	keep(t, s, "whole", "x")
	s.Close()
	for _, name := range []string{"tmp/7/work/files", "done/torn/files", "done/empty/files"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "done/torn", recordName), []byte(`{"Dig`), 0o600); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, dir, 1<<20)
	defer s.Close()
	if len(s.kept) != 1 || s.kept["whole"] == nil {
		t.Errorf("the store keeps %v", s.kept)
	}
	for _, name := range []string{"tmp/7", "done/torn", "done/empty"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s remains: %v", name, err)
		}
	}
}

func TestFailedFetchLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, 1<<20)
	defer s.Close()
	broken := errors.New("broken")
	if _, err := s.Get(t.Context(), "a", func(context.Context, string) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(entries) != 0 {
		t.Errorf("tmp has %v, %v", entries, err)
	}
}

// TestDamagedResultIsFetchedAgain damages a cached file, as a power failure can.
func TestDamagedResultIsFetchedAgain(t *testing.T) {
	body := []byte("content")
	s := serve(t, map[string][]byte{"/x": body})
	f := newFetcher(t, Config{})
	a := &api.Artifact{Source: s.URL + "/x", Options: map[string]string{"checksum": sum(body)}}
	if _, err := place(t, f, a); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(f.config.Dir, "done/*/files/x"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the cache has %v, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir, err := place(t, f, a)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, dir, "x"); got != "content" {
		t.Errorf("the task got %q", got)
	}
	if n := s.requests.Load(); n != 2 {
		t.Errorf("the server got %d requests, want 2", n)
	}
}

func TestWeakChecksumsAreNoCacheKeys(t *testing.T) {
	for checksum, want := range map[string]bool{
		"md5:" + strings.Repeat("a", 32): false, "sha1:" + strings.Repeat("a", 40): false, strings.Repeat("a", 64): true, "file:http://x/y": false, "": false,
	} {
		s, err := api.ParseArtifact(&api.Artifact{Source: "http://x/y", Options: map[string]string{"checksum": checksum}})
		if err != nil {
			t.Fatal(err)
		}
		if got := cacheKey(s) != ""; got != want {
			t.Errorf("the checksum %q is a key: %t, want %t", checksum, got, want)
		}
	}
}
