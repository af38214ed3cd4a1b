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

// keys are the names that a block knows.
type keys struct {
	noun   string
	attrs  []string
	blocks []string
	nested map[string]*keys
}

func (k *keys) all() []string { return slices.Concat(k.attrs, k.blocks) }

// keys lists the schema's names.
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

// homes tells for every name which blocks it may be written in.
func (k *keys) homes() map[string][]string {
	found := map[string][]string{}
	seen := map[string]bool{}
	var walk func(k *keys)
	walk = func(k *keys) {
		if seen[k.noun] {
			return
		}
		seen[k.noun] = true
		for _, name := range k.all() {
			found[name] = append(found[name], k.noun)
		}
		for _, name := range k.blocks {
			if n := k.nested[name]; n != nil {
				walk(n)
			}
		}
	}
	walk(k)
	return found
}

// hint is the clause that helps with an unknown name: the nearest valid one, or
// the block in which the name would be right.
func (d *decoder) hint(k *keys, name string) string {
	if s := didYouMean(name, k.all()); s != "" {
		return s
	}
	if blocks := d.homes[name]; len(blocks) > 0 && len(blocks) <= 3 {
		return "; it belongs in " + strings.Join(articles(blocks), " or ")
	}
	if all := k.all(); len(all) > 0 && len(all) <= 6 {
		return "; it takes " + list(all, "and")
	}
	return ""
}

func articles(nouns []string) []string {
	out := make([]string, len(nouns))
	for i, n := range nouns {
		out[i] = "a " + n
		if strings.ContainsRune("aeio", rune(n[0])) {
			out[i] = "an " + n
		}
	}
	return out
}

func (d *decoder) unknownAttr(k *keys, b *block, a *hclsyntax.Attribute) {
	d.addAt(a.NameRange, "%s has no argument %q%s", b.title(), a.Name, d.hint(k, a.Name))
}

func (d *decoder) unknownBlock(k *keys, parent, b *block) {
	if slices.Contains(k.attrs, b.kind) {
		d.addAt(b.kindRange, "%q is an argument, not a block: write %s = ...", b.kind, b.kind)
		return
	}
	d.addAt(b.kindRange, "%s has no block %q%s", parent.title(), b.kind, d.hint(k, b.kind))
}

// oneOf complains about a text that is none of the values allowed. Text that
// is filled in later may be anything.
func (d *decoder) oneOf(a *hclsyntax.Attribute, v cty.Value, allowed []string) bool {
	if len(allowed) == 0 || v.IsNull() || v.Type() != cty.String {
		return true
	}
	s := v.AsString()
	if s == "" || slices.Contains(allowed, s) || strings.Contains(s, "${") {
		return true
	}
	d.addAt(a.Expr.Range(), "%q must be %s, not %q%s", a.Name, list(allowed, "or"), s, didYouMean(s, allowed))
	return false
}

// list joins quoted names: "a", "b" or "c".
func list(names []string, conjunction string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " " + conjunction + " " + quoted[last]
}

func quote(s string) string { return `"` + s + `"` }
