// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/reeve-run/reeve/internal/secretfile"
)

// maxNames bounds the names of one image; the oldest ones are forgotten first.
const maxNames = 32

// A Layer is one layer of an image.
type Layer struct {
	DiffID v1.Hash // digest of the archive before compression
	Size   int64   // bytes on disk
}

// An Image is a record of the store.
type Image struct {
	Digest   v1.Hash         // of the manifest for this platform
	Names    []string        // full names with a tag or digest that led to it
	Platform string          // such as linux/arm64/v8
	Config   json.RawMessage // the image's configuration, as the registry sent it
	Layers   []Layer         // the lowest one first
	LastUsed time.Time
	Leases   []string // owners, sorted
	Uses     []Use    `json:",omitempty"` // the last one last
}

// Size returns the bytes of all layers, including those that other images share.
func (i *Image) Size() (total int64) {
	for _, l := range i.Layers {
		total += l.Size
	}
	return total
}

func (i *Image) clone() *Image {
	c := *i
	c.Names, c.Layers, c.Leases = slices.Clone(i.Names), slices.Clone(i.Layers), slices.Clone(i.Leases)
	c.Uses = slices.Clone(i.Uses)
	return &c
}

func (i *Image) addLease(owner string) {
	if at, found := slices.BinarySearch(i.Leases, owner); !found {
		i.Leases = slices.Insert(i.Leases, at, owner)
	}
}

func (i *Image) addName(name string) {
	if name == "" {
		return
	}
	i.Names = append(slices.DeleteFunc(i.Names, func(n string) bool { return n == name }), name)
	if extra := len(i.Names) - maxNames; extra > 0 {
		i.Names = slices.Delete(i.Names, 0, extra)
	}
}

// write makes a record durable and visible. The caller holds the mutex.
func (s *Store) write(i *Image) error { return s.save(i, secretfile.Write) }

// note is write for changes that a crash of the machine may undo: leases and uses, whose containers it ends.
func (s *Store) note(i *Image) error { return s.save(i, secretfile.Replace) }

func (s *Store) save(i *Image, replace func(path string, text []byte) error) error {
	text, err := json.Marshal(i)
	if err == nil {
		err = replace(s.recordPath(i.Digest), text)
	}
	if err != nil {
		return fmt.Errorf("record the image %s: %w", i.Digest, err)
	}
	s.images[i.Digest] = i
	delete(s.broken, i.Digest.Hex+".json")
	return nil
}

func (s *Store) recordPath(digest v1.Hash) string {
	return filepath.Join(s.dir, "images", digest.Hex+".json")
}

// complete reports whether all layers of an image exist. The caller holds the mutex.
func (s *Store) complete(i *Image) bool {
	return !slices.ContainsFunc(i.Layers, func(l Layer) bool { return s.layers[l.DiffID] == nil })
}

// Find returns the image that a name led to when it was last pulled, or nil.
func (s *Store) Find(name, platform string) *Image {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.images {
		if i.Platform == platform && slices.Contains(i.Names, name) && s.complete(i) {
			return i.clone()
		}
	}
	return nil
}

// Image returns a complete image by its digest, or nil.
func (s *Store) Image(digest v1.Hash) *Image {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.images[digest]; i != nil && s.complete(i) {
		return i.clone()
	}
	return nil
}

// Images returns all complete images in the order of their digests.
func (s *Store) Images() []*Image {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*Image
	for _, i := range s.images {
		if s.complete(i) {
			all = append(all, i.clone())
		}
	}
	slices.SortFunc(all, func(a, b *Image) int { return compareHash(a.Digest, b.Digest) })
	return all
}

// Record adds an image whose layers the caller holds, with a lease of owner. The name then
// leads to this image and to no other one of the platform. The record notes its users.
func (s *Store) Record(image *Image, name, owner string, uses ...Use) (*Image, error) {
	if err := checkHash(image.Digest); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := image.clone()
	if old := s.images[i.Digest]; old != nil {
		i.Names, i.Leases, i.Uses = slices.Clone(old.Names), slices.Clone(old.Leases), slices.Clone(old.Uses)
	}
	for n, l := range i.Layers {
		have := s.layers[l.DiffID]
		if have == nil {
			return nil, fmt.Errorf("record the image %s: its layer %s is not in the store", i.Digest, l.DiffID)
		}
		i.Layers[n].Size = have.size
	}
	return s.lease(i, name, owner, uses, s.write)
}

// Lease protects a complete image until Release, and notes its users. Unless the name is "", it leads to this
// image from now on. Lease returns nil if the store has no such image.
func (s *Store) Lease(digest v1.Hash, name, owner string, uses ...Use) (*Image, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.images[digest]
	if old == nil || !s.complete(old) {
		return nil, nil
	}
	save := s.note
	if name != "" && !slices.Contains(old.Names, name) {
		save = s.write
	}
	return s.lease(old.clone(), name, owner, uses, save)
}

// lease saves a record of the caller with a lease. The caller holds the mutex.
func (s *Store) lease(i *Image, name, owner string, uses []Use, save func(*Image) error) (*Image, error) {
	i.addName(name)
	i.addLease(owner)
	i.LastUsed = s.now()
	i.addUses(uses, i.LastUsed)
	if err := save(i); err != nil {
		return nil, err
	}
	s.step("recorded")
	for _, other := range s.images {
		if name == "" || other.Digest == i.Digest || other.Platform != i.Platform || !slices.Contains(other.Names, name) {
			continue
		}
		moved := other.clone()
		moved.Names = slices.DeleteFunc(moved.Names, func(n string) bool { return n == name })
		if err := s.write(moved); err != nil {
			return nil, err
		}
	}
	return i.clone(), nil
}

// Release ends the leases of an owner.
func (s *Store) Release(owner string) error {
	return s.Retain(func(o string) bool { return o != owner })
}

// Retain ends the leases of all owners that keep rejects. An agent calls it after its start,
// when it knows which allocations it still has.
func (s *Store) Retain(keep func(owner string) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, old := range s.images {
		i := old.clone()
		i.Leases = slices.DeleteFunc(i.Leases, func(o string) bool { return !keep(o) })
		if len(i.Leases) == len(old.Leases) {
			continue
		}
		i.LastUsed = s.now()
		if err := s.note(i); err != nil {
			return err
		}
	}
	return nil
}
