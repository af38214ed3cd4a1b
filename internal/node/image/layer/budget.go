// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package layer

import (
	"fmt"
	"sync/atomic"
)

// Limits bounds the layers of one image together.
type Limits struct {
	Bytes   int64 // unpacked content, and decompressed archive bytes of each layer
	Entries int64 // files, directories, links and whiteouts
	Path    int   // length of a name or of a link's target, in bytes
	Names   int64 // total length of the names of directories, which stay in memory for a while
}

// DefaultLimits admits all but a few images. The largest common ones hold 500,000 files.
var DefaultLimits = Limits{Bytes: 64 << 30, Entries: 2_000_000, Path: 4095, Names: 64 << 20}

// A Budget is the remaining part of an image's limits. Layers that are unpacked in parallel
// share one.
type Budget struct {
	limits         Limits
	bytes, entries atomic.Int64 // used
	names          atomic.Int64
}

// NewBudget returns an unused budget.
func NewBudget(l Limits) *Budget { return &Budget{limits: l} }

// A LimitError reports the limit that an image exceeds.
type LimitError struct {
	Limit   int64
	Of      string // the limited quantity
	Setting string // name of the limit
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the image holds more than %d %s: use a smaller image, or raise the node's limit of %s", e.Limit, e.Of, e.Setting)
}

// Bytes takes n bytes of unpacked content from the budget.
func (b *Budget) Bytes(n int64) error {
	if n < 0 || n > b.limits.Bytes || b.bytes.Add(n) > b.limits.Bytes {
		return &LimitError{b.limits.Bytes, "unpacked bytes", "unpacked bytes"}
	}
	return nil
}

// Entries takes n entries from the budget.
func (b *Budget) Entries(n int64) error {
	if n < 0 || n > b.limits.Entries || b.entries.Add(n) > b.limits.Entries {
		return &LimitError{b.limits.Entries, "files", "entries"}
	}
	return nil
}

func (b *Budget) directory(name string) error {
	if b.names.Add(int64(len(name))) > b.limits.Names {
		return &LimitError{b.limits.Names, "bytes of directory names", "directory names"}
	}
	return nil
}

func (b *Budget) path(what, name string) error {
	if len(name) > b.limits.Path {
		return fmt.Errorf("%s has %d bytes, more than %d", what, len(name), b.limits.Path)
	}
	return nil
}
