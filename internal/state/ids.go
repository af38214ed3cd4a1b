// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"strings"

	"github.com/tidwall/btree"
)

// ids maps names to slots, in the order of the names.
type ids struct {
	tree  *btree.Map[string, uint32]
	dirty bool // changed since it was last published
}

func newIDs() ids { return ids{tree: btree.NewMap[string, uint32](32)} }

func (x *ids) get(id string) (uint32, bool) { return x.tree.Get(id) }

func (x *ids) set(id string, slot uint32) {
	x.tree.Set(id, slot)
	x.dirty = true
}

func (x *ids) remove(id string) {
	x.tree.Delete(id)
	x.dirty = true
}

// prefix yields the names that begin with prefix, with their slots.
func (x *ids) prefix(prefix string, yield func(id string, slot uint32) bool) {
	x.tree.Ascend(prefix, func(id string, slot uint32) bool {
		return strings.HasPrefix(id, prefix) && yield(id, slot)
	})
}

// published returns a copy that stays as it is; previous is the last one.
func (x *ids) published(previous ids) ids {
	if !x.dirty {
		return previous
	}
	x.dirty = false
	return ids{tree: x.tree.Copy()}
}

func (x *ids) len() int { return x.tree.Len() }
