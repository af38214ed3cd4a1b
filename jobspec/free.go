// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// texts reads a block of free keys with text values, such as env and meta, or an argument with
// a map. Several of them are merged.
func texts[T any](field func(*T) *map[string]string) child[T] {
	return mapOf(field, func(d *decoder, b *block) map[string]string {
		out := map[string]string{}
		d.eachFree(b, func(a *hclsyntax.Attribute, v cty.Value) {
			var s string
			if v.IsNull() {
				return
			}
			if err := assign(&s, v); err != nil {
				d.addAt(a.Expr.Range(), "%q %s", a.Name, err)
				return
			}
			out[a.Name] = s
		})
		return out
	})
}

// textLists is texts with a list of values per key, for HTTP headers.
func textLists[T any](field func(*T) *map[string][]string) child[T] {
	return mapOf(field, func(d *decoder, b *block) map[string][]string {
		out := map[string][]string{}
		d.eachFree(b, func(a *hclsyntax.Attribute, v cty.Value) {
			if v.IsNull() {
				return
			}
			l, err := toTexts(v)
			if s, textErr := toText(v); textErr == nil {
				l, err = []string{s}, nil
			}
			if err != nil {
				d.addAt(a.Expr.Range(), "%q %s", a.Name, err)
				return
			}
			out[a.Name] = l
		})
		return out
	})
}

// anything reads a block without a schema, such as a driver's config. A nested block becomes a
// list of maps.
func anything[T any](field func(*T) *map[string]any) child[T] {
	c := child[T]{single: true}
	c.block = func(d *decoder, parent *T, b *block) {
		if len(b.labels) > 0 {
			d.addAt(b.labelAt[0], "%s takes no name: write %s { ... }", b.kind, b.kind)
		}
		*field(parent) = d.free(b)
	}
	c.attr = func(d *decoder, parent *T, sc *scope, a *hclsyntax.Attribute) {
		if v, ok := d.eval(sc, a.Expr); ok && !v.IsNull() {
			x, err := toAny(v)
			if m, isMap := x.(map[string]any); err == nil && isMap {
				*field(parent) = m
				return
			}
			if err == nil {
				_, err = toTextMap(v)
			}
			d.addAt(a.Expr.Range(), "%q %s", a.Name, err)
		}
	}
	return c
}

// free returns a block's content in the types of encoding/json.
func (d *decoder) free(b *block) map[string]any {
	out := map[string]any{}
	for _, a := range inOrder(b.body.Attributes) {
		v, ok := d.eval(b.scope, a.Expr)
		if !ok {
			continue
		}
		x, err := toAny(v)
		if err != nil {
			d.addAt(a.Expr.Range(), "%q %s", a.Name, err)
			continue
		}
		out[a.Name] = x
	}
	for _, nb := range d.expand(b.body.Blocks, b.scope) {
		var content any = d.free(nb)
		for i := len(nb.labels) - 1; i >= 0; i-- {
			content = map[string]any{nb.labels[i]: []any{content}}
		}
		switch earlier := out[nb.kind].(type) {
		case nil:
			out[nb.kind] = []any{content}
		case []any:
			out[nb.kind] = append(earlier, content)
		default:
			d.addAt(nb.kindRange, "%q is already set as an argument of this block", nb.kind)
		}
	}
	return out
}

// mapOf is the common part of the blocks with free keys and one kind of value.
func mapOf[T, V any](field func(*T) *map[string]V, content func(*decoder, *block) map[string]V) child[T] {
	merge := func(parent *T, m map[string]V) {
		if *field(parent) == nil {
			*field(parent) = map[string]V{}
		}
		maps.Copy(*field(parent), m)
	}
	return child[T]{
		block: func(d *decoder, parent *T, b *block) { merge(parent, content(d, b)) },
		attr: func(d *decoder, parent *T, sc *scope, a *hclsyntax.Attribute) {
			v, ok := d.eval(sc, a.Expr)
			if !ok {
				return
			}
			m := map[string]V{}
			if err := assign(&m, v); err != nil {
				d.addAt(a.Expr.Range(), "%q %s", a.Name, err)
				return
			}
			merge(parent, m)
		},
	}
}

// eachFree visits the arguments of a block with free keys.
func (d *decoder) eachFree(b *block, visit func(*hclsyntax.Attribute, cty.Value)) {
	if len(b.labels) > 0 {
		d.addAt(b.labelAt[0], "%s takes no name: write %s { ... }", b.kind, b.kind)
	}
	for _, a := range inOrder(b.body.Attributes) {
		if v, ok := d.eval(b.scope, a.Expr); ok {
			visit(a, v)
		}
	}
	for _, nb := range b.body.Blocks {
		d.addAt(hcl.RangeBetween(nb.TypeRange, nb.OpenBraceRange), "%s holds only key = value lines; write %s = ... for a value", b.kind, nb.Type)
	}
}
