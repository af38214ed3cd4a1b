// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"
)

// A Policy says when Collect removes images.
type Policy struct {
	High, Low float64       // parts of the disk in use (0 to 1): Collect begins above High and ends at Low
	MaxBytes  int64         // limit of the store's size; 0: no limit
	Keep      time.Duration // time for which an image stays after its last use
}

// A Usage is the state of the disk that holds the store, in bytes.
type Usage struct{ Used, Total int64 }

// A Verdict says why an image or layer stays, or why it was removed.
type Verdict struct {
	Image   *Image  // nil: a layer without an image
	Layer   v1.Hash // of a layer without an image
	Removed bool
	Held    bool      // a user needs it: no collection removes it
	Order   int       // place among the images that collections remove, from 1; 0: Held
	Until   time.Time // end of the time for which the policy keeps it after its last use
	Frees   int64     // bytes that the removal freed
	Reason  string
}

// A Hold returns why an image without a lease must stay; "": it need not.
type Hold func(*Image) string

// Exceeded reports whether a store of the given size has to shrink.
func (p Policy) Exceeded(u Usage, size int64) bool { return p.excess(u, size) > 0 }

// excess returns the bytes to free.
func (p Policy) excess(u Usage, size int64) (excess int64) {
	if u.Total > 0 && float64(u.Used) > p.High*float64(u.Total) {
		excess = u.Used - int64(p.Low*float64(u.Total))
	}
	if p.MaxBytes > 0 {
		excess = max(excess, size-p.MaxBytes)
	}
	return excess
}

// DiskUsage measures the disk.
func (s *Store) DiskUsage() (Usage, error) {
	var st unix.Statfs_t
	if err := unix.Fstatfs(s.done.Fd(), &st); err != nil {
		return Usage{}, fmt.Errorf("measure the disk of the image store %s: %w", s.dir, err)
	}
	size := int64(st.Bsize)
	return Usage{Used: (int64(st.Blocks) - int64(st.Bavail)) * size, Total: int64(st.Blocks) * size}, nil
}

// Collect removes the images that were not used for the longest time, until the policy is met.
// It returns a verdict for every image, and for every layer without one. hold may be nil, and is
// called with the store locked.
func (s *Store) Collect(p Policy, u Usage, hold Hold) ([]Verdict, error) {
	s.mu.Lock()
	verdicts := choose(s.images, s.layers, len(s.broken) > 0, p, u, hold, s.now())
	trash, err := s.retire(verdicts)
	s.mu.Unlock()
	for _, name := range trash {
		err = errors.Join(err, s.tmp.RemoveAll(name))
	}
	return verdicts, err
}

// Preview returns what Collect would do.
func (s *Store) Preview(p Policy, u Usage, hold Hold) []Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	return choose(s.images, s.layers, len(s.broken) > 0, p, u, hold, s.now())
}

// retire removes the records of images, then moves the layers that no image needs to tmp. It
// returns their names there. The caller holds the mutex.
func (s *Store) retire(verdicts []Verdict) (trash []string, err error) {
	for _, v := range verdicts {
		if !v.Removed || v.Image == nil {
			continue
		}
		if err := os.Remove(s.recordPath(v.Image.Digest)); err != nil {
			return nil, fmt.Errorf("remove the image %s: %w", v.Image.Digest, err)
		}
		delete(s.images, v.Image.Digest)
		s.step("record removed")
	}
	if len(s.broken) > 0 {
		return nil, nil
	}
	needed := map[v1.Hash]bool{}
	for _, i := range s.images {
		for _, l := range i.Layers {
			needed[l.DiffID] = true
		}
	}
	for diffID, l := range s.layers {
		if needed[diffID] || l.pins > 0 {
			continue
		}
		s.next++
		name := fmt.Sprintf("trash-%d", s.next)
		if err := unix.Renameat(s.done.Fd(), diffID.Hex, s.tmp.Fd(), name); err != nil {
			return trash, fmt.Errorf("remove the layer %s: %w", diffID, err)
		}
		delete(s.layers, diffID)
		trash = append(trash, name)
		s.step("layer retired")
	}
	return trash, nil
}

// choose decides what Collect removes. It changes nothing.
func choose(images map[v1.Hash]*Image, layers map[v1.Hash]*stored, damaged bool, p Policy, u Usage, hold Hold, now time.Time) []Verdict {
	users := map[v1.Hash]int{} // images that need a layer
	var total int64
	for _, l := range layers {
		total += l.size
	}
	var oldest []*Image
	for _, i := range images {
		oldest = append(oldest, i)
		for _, id := range i.diffIDs() {
			users[id]++
		}
	}
	slices.SortFunc(oldest, func(a, b *Image) int {
		return cmp.Or(a.LastUsed.Compare(b.LastUsed), compareHash(a.Digest, b.Digest))
	})
	excess := p.excess(u, total)
	full, order := excess > 0, 0
	var verdicts []Verdict
	for diffID, l := range layers {
		if users[diffID] > 0 {
			continue
		}
		v := Verdict{Layer: diffID, Removed: l.pins == 0 && !damaged, Reason: "no image needs it"}
		switch {
		case l.pins > 0:
			v.Reason = "a running pull needs it"
		case damaged:
			v.Reason = "an image's record is damaged, and may need it"
		default:
			v.Frees = l.size
			excess -= l.size
		}
		verdicts = append(verdicts, v)
	}
	slices.SortFunc(verdicts, func(a, b Verdict) int { return compareHash(a.Layer, b.Layer) })
	for _, i := range oldest {
		v := Verdict{Image: i, Until: i.LastUsed.Add(p.Keep)}
		idle := now.Sub(i.LastUsed)
		if len(i.Leases) > 0 {
			v.Held, v.Reason = true, "in use by "+strings.Join(i.Leases, ", ")
		} else if hold != nil {
			v.Reason = hold(i)
			v.Held = v.Reason != ""
		}
		if !v.Held {
			order++
			v.Order = order
		}
		switch {
		case v.Held:
		case !full:
			v.Reason = "the disk has room"
		case idle < p.Keep:
			v.Reason = fmt.Sprintf("used %s ago, and kept for %s", idle.Round(time.Second), p.Keep)
		case excess <= 0:
			v.Reason = "the removal of others freed enough"
		case damaged:
			v.Reason = "another image's record is damaged, and may need its layers"
		default:
			v.Removed = true
			for _, id := range i.diffIDs() {
				if users[id]--; users[id] == 0 && layers[id] != nil && layers[id].pins == 0 {
					v.Frees += layers[id].size
				}
			}
			excess -= v.Frees
			v.Reason = fmt.Sprintf("not used for %s, and the disk is too full", idle.Round(time.Second))
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// diffIDs returns the layers without repetitions: an image may contain one twice.
func (i *Image) diffIDs() []v1.Hash {
	var ids []v1.Hash
	seen := map[v1.Hash]bool{}
	for _, l := range i.Layers {
		if !seen[l.DiffID] {
			seen[l.DiffID] = true
			ids = append(ids, l.DiffID)
		}
	}
	return ids
}
