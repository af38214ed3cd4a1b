// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// TestUsesAreBounded has more jobs and allocations than a record remembers, and opens the store again.
func TestUsesAreBounded(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if _, err := pull(s, id("a"), "app", "o", id("1")); err != nil {
		t.Fatal(err)
	}
	for n := range maxUses + 10 {
		for a := range 2 {
			if _, err := s.Lease(id("a"), "", "o", Use{Namespace: "default", JobID: fmt.Sprint("job", n), Allocs: []string{fmt.Sprint(a)}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for a := range maxAllocs + 5 {
		if _, err := s.Lease(id("a"), "", "o", Use{Namespace: "default", JobID: "busy", Allocs: []string{fmt.Sprint(a), fmt.Sprint(a)}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pull(s, id("a"), "app", "o", id("1")); err != nil { // another pull forgets nothing
		t.Fatal(err)
	}
	uses := open(t, dir).Images()[0].Uses
	last := uses[len(uses)-1]
	if len(uses) != maxUses || last.JobID != "busy" || len(last.Allocs) != maxAllocs || last.Allocs[maxAllocs-1] != fmt.Sprint(maxAllocs+4) {
		t.Errorf("%d uses, the last one %+v", len(uses), last)
	}
	if first := uses[0]; first.JobID != "job11" || len(first.Allocs) != 2 {
		t.Errorf("the first use %+v", first)
	}
}

func TestExclusiveBytes(t *testing.T) {
	s := open(t, t.TempDir())
	for digest, layers := range map[string][]v1.Hash{"a": {id("1"), id("2")}, "b": {id("2"), id("3"), id("3")}} {
		if _, err := pull(s, id(digest), digest, "o", layers...); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Exclusive(); got[id("a")] != 10 || got[id("b")] != 10 || s.Size() != 30 {
		t.Errorf("exclusive %v, size %d; want 10 each, and 30", got, s.Size())
	}
}
