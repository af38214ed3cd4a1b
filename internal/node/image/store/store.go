// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/coalesce"
	"github.com/reeve-run/reeve/internal/node/beneath"
)

// A Store is the images of one node. Its directory belongs to the agent's user alone, and no
// other process writes to it.
type Store struct {
	dir       string
	tmp, done *beneath.Dir // handles of the directories tmp and layers
	log       *slog.Logger
	now       func() time.Time
	step      func(name string) // called at each step of a change; tests crash there
	sync      *coalesce.Group[struct{}]
	running   sync.WaitGroup // fills

	mu     sync.Mutex
	images map[v1.Hash]*Image // a record is replaced, never changed
	layers map[v1.Hash]*stored
	fills  map[v1.Hash]*fill
	broken map[string]error // records that cannot be read, by file name
	next   int              // number of the next name below tmp
}

// stored is a layer in its place.
type stored struct {
	size int64
	pins int // pulls that rely on it
}

// sizeRecord is the content of layer.json.
type sizeRecord struct{ Bytes, Entries int64 }

// Open opens a store, or creates one. It removes leftovers of a crash.
func Open(dir string, log *slog.Logger) (*Store, error) {
	s := &Store{
		dir: dir, log: log, now: time.Now, step: func(string) {},
		images: map[v1.Hash]*Image{}, layers: map[v1.Hash]*stored{}, fills: map[v1.Hash]*fill{}, broken: map[string]error{},
	}
	if err := s.open(); err != nil {
		s.Close()
		return nil, fmt.Errorf("open the image store %s: %w", dir, err)
	}
	return s, nil
}

func (s *Store) open() (err error) {
	for _, name := range []string{"", "tmp", "layers", "images"} {
		if err := os.MkdirAll(filepath.Join(s.dir, name), 0o700); err != nil {
			return err
		}
	}
	if s.tmp, err = beneath.Open(filepath.Join(s.dir, "tmp")); err != nil {
		return err
	}
	if s.done, err = beneath.Open(filepath.Join(s.dir, "layers")); err != nil {
		return err
	}
	s.sync = coalesce.New(func(context.Context) (struct{}, error) {
		return struct{}{}, unix.Syncfs(s.done.Fd())
	})
	if err := removeEach(s.tmp, func(string) bool { return true }); err != nil {
		return err
	}
	if err := removeEach(s.done, func(name string) bool { return !s.readLayer(name) }); err != nil {
		return err
	}
	return s.readImages()
}

// removeEach removes the entries of a directory that match.
func removeEach(d *beneath.Dir, match func(name string) bool) error {
	var names []string
	if err := d.Names(func(name string) { names = append(names, name) }); err != nil {
		return err
	}
	for _, name := range names {
		if match(name) {
			if err := d.RemoveAll(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// readLayer registers a complete layer.
func (s *Store) readLayer(name string) bool {
	h := v1.Hash{Algorithm: "sha256", Hex: name}
	if checkHash(h) != nil {
		return false
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "layers", name, "layer.json"))
	var size sizeRecord
	if err == nil {
		err = json.Unmarshal(text, &size)
	}
	if err == nil && size.Bytes < 0 {
		err = errors.New("its size is negative")
	}
	if err == nil {
		_, err = os.Lstat(s.LayerPath(h))
	}
	if err != nil {
		s.log.Warn("removing a damaged layer of an image", "layer", name, "error", err)
		return false
	}
	s.layers[h] = &stored{size: size.Bytes}
	return true
}

func (s *Store) readImages() error {
	entries, err := os.ReadDir(filepath.Join(s.dir, "images"))
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(s.dir, "images", e.Name())
		hex, isRecord := strings.CutSuffix(e.Name(), ".json")
		if !isRecord {
			if err := os.Remove(path); err != nil { // an unfinished write
				return err
			}
			continue
		}
		i := &Image{}
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, i)
		}
		if err == nil && i.Digest != (v1.Hash{Algorithm: "sha256", Hex: hex}) {
			err = errors.New("it names another image than its file name")
		}
		if err == nil {
			err = checkHash(i.Digest)
		}
		if err != nil {
			// Its leases are unknown: no layer is removed until a pull replaces the record.
			s.log.Warn("an image's record is damaged: pull the image again, or remove the file", "path", path, "error", err)
			s.broken[e.Name()] = err
			continue
		}
		s.images[i.Digest] = i
	}
	return nil
}

// Close waits for layers that are being unpacked. The caller has canceled their pulls.
func (s *Store) Close() error {
	s.running.Wait()
	var err error
	for _, d := range []*beneath.Dir{s.tmp, s.done} {
		if d != nil {
			err = errors.Join(err, d.Close())
		}
	}
	return err
}

// LayerPath returns the directory with the files of a layer.
func (s *Store) LayerPath(diffID v1.Hash) string {
	return filepath.Join(s.dir, "layers", diffID.Hex, "fs")
}

// checkHash rejects digests whose text could not be the name of a file in the store.
func checkHash(h v1.Hash) error {
	if h.Algorithm != "sha256" || len(h.Hex) != 64 || strings.Trim(h.Hex, "0123456789abcdef") != "" {
		return fmt.Errorf("%q is not a SHA-256 digest", h.String())
	}
	return nil
}

func compareHash(a, b v1.Hash) int { return cmp.Compare(a.Hex, b.Hex) }

// syncDir makes the names of a directory durable.
func syncDir(d *beneath.Dir) error {
	if err := unix.Fsync(d.Fd()); err != nil {
		return &fs.PathError{Op: "sync", Path: "layers", Err: err}
	}
	return nil
}
