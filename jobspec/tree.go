// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"math/big"
	"strconv"

	"github.com/zclconf/go-cty/cty"
)

// A nodeKind is the type of a node.
type nodeKind uint8

const (
	nullNode nodeKind = iota
	boolNode
	numberNode
	textNode
	listNode
	objectNode
)

// A node is a value of a JSON or YAML document with its position.
type node struct {
	kind   nodeKind
	at     span
	text   string // of a text, number or boolean: as written
	items  []*node
	fields []field
}

// A field is one key of an object.
type field struct {
	name  string
	at    span
	value *node
}

// describe describes a node for an error.
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

// cty converts the node to an HCL value.
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

// plain converts the node to the types of encoding/json.
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
