// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// expand pairs blocks with their scopes. A dynamic block becomes one block for each element of
// its for_each.
func (d *decoder) expand(bs hclsyntax.Blocks, sc *scope) []*block {
	var out []*block
	for _, b := range bs {
		if b.Type == "dynamic" {
			out = append(out, d.expandDynamic(b, sc)...)
			continue
		}
		out = append(out, &block{kind: b.Type, kindRange: b.TypeRange, labels: b.Labels, labelAt: b.LabelRanges, body: b.Body, scope: sc})
	}
	return out
}

func (d *decoder) expandDynamic(b *hclsyntax.Block, sc *scope) (out []*block) {
	if len(b.Labels) != 1 {
		d.addAt(b.TypeRange, "dynamic needs the kind of block it makes: write dynamic \"KIND\" { ... }")
		return nil
	}
	kind := b.Labels[0]
	content := d.dynamicBody(b)
	each, ok := b.Body.Attributes["for_each"]
	if content == nil || !ok {
		if !ok {
			d.addAt(b.TypeRange, "dynamic %q needs the argument \"for_each\"", kind)
		}
		return nil
	}
	iterator := kind
	if a, ok := b.Body.Attributes["iterator"]; ok {
		iterator = hcl.ExprAsKeyword(a.Expr)
		if iterator == "" {
			d.addAt(a.Expr.Range(), "\"iterator\" must be a bare name, as in iterator = item")
			return nil
		}
	}
	elements, ok := d.eval(sc, each.Expr)
	if !ok {
		return nil
	}
	if elements.IsNull() || !elements.CanIterateElements() {
		d.addAt(each.Expr.Range(), "\"for_each\" must be a list, a set or a map, not %s", describe(elements))
		return nil
	}
	defer d.caught(each.Expr.Range())
	for it := elements.ElementIterator(); it.Next(); {
		d.meter.spend(16, 0)
		key, value := it.Element()
		if elements.Type().IsSetType() {
			key = value
		}
		inner := sc.with(map[string]cty.Value{iterator: cty.ObjectVal(map[string]cty.Value{"key": key, "value": value})})
		labels, at, ok := d.dynamicLabels(b, inner)
		if !ok {
			return nil
		}
		out = append(out, &block{kind: kind, kindRange: b.LabelRanges[0], labels: labels, labelAt: at, body: content.Body, scope: inner})
	}
	return out
}

// dynamicBody returns the content block, and reports invalid parts of the dynamic block.
func (d *decoder) dynamicBody(b *hclsyntax.Block) *hclsyntax.Block {
	known := &keys{noun: "dynamic", attrs: []string{"for_each", "iterator", "labels"}, blocks: []string{"content"}}
	outer := &block{kind: "dynamic", labels: b.Labels}
	for _, a := range inOrder(b.Body.Attributes) {
		switch a.Name {
		case "for_each", "iterator", "labels":
		default:
			d.unknownAttr(known, outer, a)
		}
	}
	var content *hclsyntax.Block
	for _, nb := range b.Body.Blocks {
		switch {
		case nb.Type != "content":
			d.unknownBlock(known, outer, &block{kind: nb.Type, kindRange: nb.TypeRange})
		case content != nil:
			d.addAt(nb.TypeRange, "dynamic %q has a second content block", b.Labels[0])
		default:
			content = nb
		}
	}
	if content == nil {
		d.addAt(b.TypeRange, "dynamic %q needs a content block", b.Labels[0])
	}
	return content
}

func (d *decoder) dynamicLabels(b *hclsyntax.Block, sc *scope) ([]string, []hcl.Range, bool) {
	a, ok := b.Body.Attributes["labels"]
	if !ok {
		return nil, nil, true
	}
	v, ok := d.eval(sc, a.Expr)
	if !ok {
		return nil, nil, false
	}
	v, err := convert.Convert(v, cty.List(cty.String))
	if err != nil || v.IsNull() {
		d.addAt(a.Expr.Range(), "\"labels\" must be a list of texts")
		return nil, nil, false
	}
	var labels []string
	var at []hcl.Range
	for _, l := range v.AsValueSlice() {
		if l.IsNull() {
			d.addAt(a.Expr.Range(), "\"labels\" has an element without a value")
			return nil, nil, false
		}
		labels = append(labels, l.AsString())
		at = append(at, a.Expr.Range())
	}
	return labels, at, true
}
