// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"math/big"
	"strconv"

	"github.com/zclconf/go-cty/cty"
)

// nodeKind is what a node of a tree is.
type nodeKind uint8

const (
	nullNode nodeKind = iota
	boolNode
	numberNode
	textNode
	listNode
	objectNode
)

// node is a value of a JSON or YAML document with its place in the text.
type node struct {
	kind   nodeKind
	at     span
	text   string // of a text, a number and true or false: as written
	items  []*node
	fields []field
}

// field is one key of an object.
type field struct {
	name  string
	at    span
	value *node
}

// describe names a node for an error.
func (n *node) describe() string {
	switch n.kind {
	case boolNode:
		return n.text
	case numberNode:
		return "the number " + shorten(n.text)
	case textNode:
		return "the text " + quote(shorten(n.text))
	case listNode:
		return "a list"
	case objectNode:
		return "an object"
	}
	return "null"
}

// cty is the node as an HCL value.
func (n *node) cty() cty.Value {
	switch n.kind {
	case boolNode:
		return cty.BoolVal(n.text == "true")
	case numberNode:
		if f, _, err := big.ParseFloat(n.text, 10, 512, big.ToNearestEven); err == nil {
			return cty.NumberVal(f)
		}
		return cty.StringVal(n.text)
	case textNode:
		return cty.StringVal(n.text)
	case listNode:
		items := make([]cty.Value, len(n.items))
		for i, e := range n.items {
			items[i] = e.cty()
		}
		return cty.TupleVal(items)
	case objectNode:
		fields := map[string]cty.Value{}
		for _, f := range n.fields {
			fields[f.name] = f.value.cty()
		}
		return cty.ObjectVal(fields)
	}
	return cty.NullVal(cty.DynamicPseudoType)
}

func (n *node) isScalar() bool {
	return n.kind == textNode || n.kind == numberNode || n.kind == boolNode
}

// plain is the node as encoding/json would decode it into an any.
func (n *node) plain() any {
	switch n.kind {
	case boolNode:
		return n.text == "true"
	case numberNode:
		f, err := strconv.ParseFloat(n.text, 64)
		if err != nil {
			return n.text
		}
		return f
	case textNode:
		return n.text
	case listNode:
		items := make([]any, len(n.items))
		for i, e := range n.items {
			items[i] = e.plain()
		}
		return items
	case objectNode:
		fields := map[string]any{}
		for _, f := range n.fields {
			fields[f.name] = f.value.plain()
		}
		return fields
	}
	return nil
}
