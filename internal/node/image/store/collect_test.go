// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"pgregory.net/rapid"
)

// TestCollectNeverRemovesALeasedImage runs random histories of a store. After each step every
// leased image must be complete, on the disk too.
func TestCollectNeverRemovesALeasedImage(t *testing.T) {
	removed := 0
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		must(t, err)
		s := open(t, dir)
		leases := map[string]v1.Hash{} // by owner; an owner has one image here
		owner := 0
		for range rapid.IntRange(5, 30).Draw(r, "steps") {
			image := rapid.IntRange(0, 5).Draw(r, "image")
			// An image always has the same layers, and shares them with its neighbours.
			layers := []v1.Hash{id(strconv.Itoa(image)), id(strconv.Itoa(image + 1)), id("9")}
			digest := id("abcdef"[image : image+1])
			owner++
			name := strconv.Itoa(owner)
			switch rapid.SampledFrom([]string{"pull", "lease", "release", "collect", "collect", "open"}).Draw(r, "step") {
			case "pull":
				if _, err := pull(s, digest, "app", name, layers...); err != nil {
					r.Fatal(err)
				}
				leases[name] = digest
			case "lease":
				i, err := s.Lease(digest, "", name)
				if err != nil {
					r.Fatal(err)
				}
				if i != nil {
					leases[name] = digest
				}
			case "release":
				for o := range leases {
					if rapid.Bool().Draw(r, "release") {
						delete(leases, o)
						if err := s.Release(o); err != nil {
							r.Fatal(err)
						}
					}
				}
			case "collect":
				verdicts, err := s.Collect(Policy{MaxBytes: rapid.Int64Range(1, 60).Draw(r, "bytes")}, Usage{}, nil)
				if err != nil {
					r.Fatal(err)
				}
				if slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Removed }) {
					removed++
				}
			case "open":
				s = open(t, dir)
			}
			for o, digest := range leases {
				all := s.Images()
				at := slices.IndexFunc(all, func(i *Image) bool { return i.Digest == digest })
				if at < 0 || !slices.Contains(all[at].Leases, o) {
					r.Fatalf("image %s of lease %s is not complete", digest.Hex[:1], o)
				}
				for _, l := range all[at].Layers {
					if _, err := os.Lstat(s.LayerPath(l.DiffID) + "/f"); errors.Is(err, os.ErrNotExist) {
						r.Fatalf("layer %s of lease %s: %v", l.DiffID.Hex[:1], o, err)
					}
				}
			}
		}
	})
	if removed == 0 {
		t.Error("nothing was ever removed: the test tries nothing")
	}
}
