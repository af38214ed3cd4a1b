// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// locals holds the named values of a file. They may refer to each other in any order, so each
// is evaluated on first use.
type locals struct {
	d      *decoder
	scope  *scope
	exprs  map[string]*hclsyntax.Attribute
	values map[string]cty.Value
	bad    map[string]bool
	path   []string // names being evaluated: a repeated name is a cycle
}

func (d *decoder) declaredLocals(body *hclsyntax.Body, sc *scope) *locals {
	ls := &locals{d: d, scope: sc, exprs: map[string]*hclsyntax.Attribute{}, values: map[string]cty.Value{}, bad: map[string]bool{}}
	for _, b := range body.Blocks {
		if b.Type != "locals" {
			continue
		}
		if len(b.Labels) > 0 {
			d.addAt(b.LabelRanges[0], "locals takes no name: write locals { ... }")
		}
		for _, nb := range b.Body.Blocks {
			d.addAt(nb.TypeRange, "locals holds only name = value lines; write %s = { ... } for a map", nb.Type)
		}
		for _, a := range inOrder(b.Body.Attributes) {
			if earlier, dup := ls.exprs[a.Name]; dup {
				d.addAt(a.NameRange, "the local %q is already defined on line %d", a.Name, earlier.NameRange.Start.Line)
				continue
			}
			ls.exprs[a.Name] = a
		}
	}
	return ls
}

func (ls *locals) resolveAll() {
	for _, name := range slices.Sorted(maps.Keys(ls.exprs)) {
		ls.resolve(name, ls.exprs[name].NameRange)
	}
}

// resolve adds the name to scope.names["local"]; "" adds all names.
func (ls *locals) resolve(name string, at hcl.Range) bool {
	if name == "" {
		ls.resolveAll()
		return true
	}
	a, ok := ls.exprs[name]
	if !ok {
		ls.d.addAt(at, "there is no local %q%s", name, didYouMean(name, slices.Collect(maps.Keys(ls.exprs))))
		return false
	}
	if _, done := ls.values[name]; done || ls.bad[name] {
		return !ls.bad[name]
	}
	if slices.Contains(ls.path, name) {
		ls.d.addAt(at, "the locals refer to each other in a circle: %s", strings.Join(append(ls.path, name), " -> "))
		return false
	}
	if len(ls.path) > maxDepth {
		ls.d.addAt(at, "locals refer to each other more than %d deep", maxDepth)
		return false
	}
	ls.path = append(ls.path, name)
	v, ok := ls.d.eval(ls.scope, a.Expr)
	ls.path = ls.path[:len(ls.path)-1]
	if !ok {
		ls.bad[name] = true
		return false
	}
	if room := maxValue; !fits(v, &room) {
		ls.d.addAt(a.Expr.Range(), "the local %q is larger than %d bytes", name, maxValue)
		ls.bad[name] = true
		return false
	}
	ls.values[name] = v
	ls.scope.names["local"] = cty.ObjectVal(ls.values)
	return true
}

// maxValue bounds a local, in bytes: locals that each double another would
// otherwise make a few lines fill the memory.
const maxValue = 4 << 20

// fits takes the size of a value off the room that is left.
func fits(v cty.Value, room *int) bool {
	*room -= 8
	v, _ = v.Unmark()
	switch {
	case *room < 0:
		return false
	case v == cty.NilVal || !v.IsKnown() || v.IsNull():
		return true
	case v.Type() == cty.Number:
		return inRange(v.AsBigFloat())
	case v.Type() == cty.String:
		*room -= len(v.AsString())
		return *room >= 0
	case v.CanIterateElements():
		for it := v.ElementIterator(); it.Next(); {
			k, e := it.Element()
			if !fits(k, room) || !fits(e, room) {
				return false
			}
		}
	}
	return true
}
