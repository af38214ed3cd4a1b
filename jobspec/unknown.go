// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// keys holds the names that a block accepts.
type keys struct {
	noun   string
	attrs  []string
	blocks []string
	nested map[string]*keys
}

func (k *keys) all() []string { return slices.Concat(k.attrs, k.blocks) }

func (k *keys) ofBlocks() []string { return k.blocks }

// keys returns the schema's names.
func (s *schema[T]) keys() *keys {
	k := &keys{noun: s.noun, nested: map[string]*keys{}}
	k.attrs = slices.Sorted(maps.Keys(s.attrs))
	k.blocks = slices.Sorted(maps.Keys(s.blocks))
	for name, c := range s.blocks {
		if c.known != nil {
			k.nested[name] = c.known
		}
	}
	return k
}

// homes returns the blocks that accept a name. pick selects the kind of names to search.
func (d *decoder) homes(name string, pick func(*keys) []string) []string {
	if d.root == nil {
		return nil
	}
	var found []string
	seen := map[string]bool{}
	var walk func(k *keys)
	walk = func(k *keys) {
		if seen[k.noun] {
			return
		}
		seen[k.noun] = true
		if slices.Contains(pick(k), name) {
			found = append(found, k.noun)
		}
		for _, block := range k.blocks {
			if n := k.nested[block]; n != nil {
				walk(n)
			}
		}
	}
	walk(d.root())
	return found
}

// hint returns a clause for an unknown name: the nearest valid name, or the block in which the
// name is valid.
func (d *decoder) hint(k *keys, name string, pick func(*keys) []string) string {
	if s := didYouMean(name, k.all()); s != "" {
		return s
	}
	if blocks := d.homes(name, pick); len(blocks) > 0 && len(blocks) <= 3 {
		return "; it belongs in " + article(blocks[0]) + enumerate(blocks, "or") + " block"
	}
	if all := k.all(); len(all) > 0 && len(all) <= 6 {
		return "; it takes " + list(all, "and")
	}
	return ""
}

func article(noun string) string {
	if strings.ContainsRune("aeio", rune(noun[0])) {
		return "an "
	}
	return "a "
}

func (d *decoder) unknownAttr(k *keys, b *block, a *hclsyntax.Attribute) {
	d.addAt(a.NameRange, "%s has no argument %q%s", b.title(), a.Name, d.hint(k, a.Name, (*keys).all))
}

func (d *decoder) unknownBlock(k *keys, parent, b *block) {
	if slices.Contains(k.attrs, b.kind) {
		d.addAt(b.kindRange, "%q is an argument, not a block: write %s = ...", b.kind, b.kind)
		return
	}
	d.addAt(b.kindRange, "%s has no block %q%s", parent.title(), b.kind, d.hint(k, b.kind, (*keys).ofBlocks))
}

// maxListed bounds the values that are listed if a suggestion exists.
const maxListed = 8

// oneOf reports a text that is not one of the permitted values. Text with variables may be
// anything.
func (d *decoder) oneOf(a *hclsyntax.Attribute, v cty.Value, allowed []string) bool {
	if len(allowed) == 0 || v.IsNull() || v.Type() != cty.String {
		return true
	}
	s := v.AsString()
	if s == "" || slices.Contains(allowed, s) || strings.Contains(s, "${") {
		return true
	}
	if hint := didYouMean(s, allowed); hint != "" && len(allowed) > maxListed {
		d.addAt(a.Expr.Range(), "%q cannot be %q%s", a.Name, s, hint)
	} else {
		d.addAt(a.Expr.Range(), "%q must be %s, not %q%s", a.Name, list(allowed, "or"), shorten(s), hint)
	}
	return false
}

// list joins quoted names: "a", "b" or "c".
func list(names []string, conjunction string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	return enumerate(quoted, conjunction)
}

// enumerate joins words: a, b or c.
func enumerate(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

func quote(s string) string { return `"` + s + `"` }
