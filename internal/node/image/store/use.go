// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const (
	maxUses   = 128 // of one image; the oldest ones are forgotten first
	maxAllocs = 16  // of one use, in the same way
)

// A Use is a job that ran an image. It outlives the containers, and so the leases.
type Use struct {
	Namespace, JobID string
	Digest           string   // of the job's pin, which can be an index of many platforms; "": the job has none
	Allocs           []string // the last ones, the newest last
	At               time.Time
	// Ahead is the version of the job for which the image was pulled before an allocation ran it; nil: one did.
	Ahead *uint64 `json:",omitempty"`
}

func (u Use) same(o Use) bool {
	return u.Namespace == o.Namespace && u.JobID == o.JobID && u.Digest == o.Digest
}

// addUses notes uses in a record of the caller.
func (i *Image) addUses(uses []Use, now time.Time) {
	for _, u := range uses {
		u.At, u.Allocs = now, slices.Clone(u.Allocs)
		if at := slices.IndexFunc(i.Uses, u.same); at >= 0 {
			old := i.Uses[at].Allocs
			if i.Uses[at].Ahead == nil {
				u.Ahead = nil // an allocation ran it
			}
			i.Uses = slices.Delete(i.Uses, at, at+1)
			u.Allocs = append(slices.DeleteFunc(slices.Clone(old), func(a string) bool { return slices.Contains(u.Allocs, a) }), u.Allocs...)
		}
		u.Allocs = u.Allocs[max(0, len(u.Allocs)-maxAllocs):]
		i.Uses = append(i.Uses, u)
	}
	i.Uses = slices.Delete(i.Uses, 0, max(0, len(i.Uses)-maxUses))
}

// IsAhead reports whether the image was pulled for the use's job before an allocation ran it, and for which version.
func (i *Image) IsAhead(of Use) (version uint64, ok bool) {
	at := slices.IndexFunc(i.Uses, of.same)
	if at < 0 || i.Uses[at].Ahead == nil {
		return 0, false
	}
	return *i.Uses[at].Ahead, true
}

// Exclusive returns the bytes of each image that no other one shares: those that its removal frees.
func (s *Store) Exclusive() map[v1.Hash]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	users := map[v1.Hash]int{}
	for _, i := range s.images {
		for _, id := range i.diffIDs() {
			users[id]++
		}
	}
	sizes := map[v1.Hash]int64{}
	for digest, i := range s.images {
		for _, id := range i.diffIDs() {
			if l := s.layers[id]; l != nil && users[id] == 1 {
				sizes[digest] += l.size
			}
		}
	}
	return sizes
}

// Size returns the bytes of all layers, each counted once.
func (s *Store) Size() (total int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.layers {
		total += l.size
	}
	return total
}
