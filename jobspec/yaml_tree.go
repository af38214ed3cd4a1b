// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// node converts one node. It returns null after it has recorded a problem.
func (y *yamlReader) node(n ast.Node) *node {
	y.nodes++
	y.depth++
	defer func() { y.depth-- }()
	if n == nil {
		return &node{}
	}
	out := &node{at: y.span(n.GetToken())}
	if y.nodes > maxNodes || y.depth > maxDepth {
		if len(y.list) == 0 {
			y.add(out.at, "the document is too large, or its aliases multiply it")
		}
		return out
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		out.kind = objectNode
		y.entries(out, n.Values)
	case *ast.MappingValueNode:
		out.kind = objectNode
		y.entries(out, []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		out.kind = listNode
		for _, item := range n.Values {
			out.items = append(out.items, y.node(item))
		}
	case *ast.StringNode:
		out.kind, out.text = textNode, n.Value
	case *ast.LiteralNode:
		out.kind, out.text = textNode, n.Value.Value
	case *ast.BoolNode:
		out.kind, out.text = boolNode, fmt.Sprint(n.Value)
	case *ast.IntegerNode:
		out.kind, out.text = numberNode, plainNumber(n.Token.Value)
	case *ast.FloatNode:
		out.kind, out.text = numberNode, strings.ReplaceAll(n.Token.Value, "_", "")
	case *ast.InfinityNode, *ast.NanNode:
		out.kind, out.text = textNode, n.GetToken().Value
	case *ast.NullNode:
	case *ast.TagNode:
		out = y.node(n.Value)
		if n.Start != nil && n.Start.Value == "!!str" && out.isScalar() {
			out.kind = textNode
		}
	case *ast.AnchorNode:
		y.anchors[n.Name.String()] = n.Value
		out = y.node(n.Value)
	case *ast.AliasNode:
		out = y.alias(n)
	default:
		y.add(out.at, "a job cannot hold this: %s", strings.ToLower(n.Type().String()))
	}
	if y.bytes += len(out.text); y.bytes > maxOutput && len(y.list) == 0 {
		y.add(out.at, "the document's texts have more than %d MB, or its aliases multiply them", maxOutput>>20)
	}
	return out
}

func (y *yamlReader) alias(n *ast.AliasNode) *node {
	name := n.Value.String()
	at := y.span(n.GetToken())
	target, ok := y.anchors[name]
	if !ok {
		y.add(at, "there is no anchor %q above", name)
		return &node{at: at}
	}
	for _, open := range y.open {
		if open == name {
			y.add(at, "the anchor %q contains itself", name)
			return &node{at: at}
		}
	}
	y.open = append(y.open, name)
	out := *y.node(target)
	y.open = y.open[:len(y.open)-1]
	out.at = at
	return &out
}

// entries reads the keys of a mapping. Merged keys (<<) come last, and do not override the
// mapping's own keys.
func (y *yamlReader) entries(out *node, values []*ast.MappingValueNode) {
	own := map[string]bool{}
	var merged []field
	for _, v := range values {
		if _, merge := v.Key.(*ast.MergeKeyNode); merge {
			merged = append(merged, y.merge(v.Value)...)
			continue
		}
		key := y.node(v.Key)
		if y.nodes > maxNodes {
			return
		}
		if !key.isScalar() {
			y.add(key.at, "a key must be text")
			continue
		}
		out.at = y.firstOf(out, key.at)
		own[key.text] = true
		out.fields = append(out.fields, field{name: key.text, at: key.at, value: y.node(v.Value)})
	}
	for _, f := range merged {
		if !own[f.name] {
			own[f.name] = true
			out.fields = append(out.fields, f)
		}
	}
}

// firstOf moves a mapping to the position of its first key: the library places it at the
// colon.
func (y *yamlReader) firstOf(out *node, key span) span {
	if len(out.fields) == 0 {
		return key
	}
	return out.at
}

func (y *yamlReader) merge(n ast.Node) []field {
	switch from := y.node(n); from.kind {
	case objectNode:
		return from.fields
	case listNode:
		var fields []field
		for _, item := range from.items {
			fields = append(fields, item.fields...)
		}
		return fields
	default:
		y.add(from.at, "<< must name a mapping, not %s", from.describe())
		return nil
	}
}

// plainNumber converts YAML's 0x1f, 0o17 and 1_000 to a decimal number.
func plainNumber(s string) string {
	if i, ok := new(big.Int).SetString(strings.TrimPrefix(s, "+"), 0); ok {
		return i.String()
	}
	return s
}
