// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/reeve-run/reeve/api"
)

// maxNodes bounds what aliases may multiply a document to.
const maxNodes = 1 << 18

// parseYAML reads the API's model written as YAML.
func parseYAML(src Source) (*api.Job, error) {
	m := &modelDecoder{problems: problems{file: src.Name, text: src.Text}, syntax: "YAML", lenient: true}
	y := &yamlReader{problems: &m.problems, anchors: map[string]ast.Node{}}
	root := y.document()
	if len(m.list) > 0 {
		return nil, m.err()
	}
	return m.job(root)
}

// yamlReader turns the library's syntax tree into ours, resolving anchors and
// merges.
type yamlReader struct {
	*problems
	lines   []int // byte offset of each line
	anchors map[string]ast.Node
	open    []string // anchors being resolved
	nodes   int
	depth   int
}

func (y *yamlReader) document() *node {
	y.lines = []int{0}
	for i, c := range y.text {
		if c == '\n' {
			y.lines = append(y.lines, i+1)
		}
	}
	if at, deep := deepYAML(y.text); deep {
		y.add(at, "brackets are nested more than %d deep", maxDepth)
		return nil
	}
	f, err := parser.ParseBytes(y.text, 0)
	if err != nil {
		y.syntaxError(err)
		return nil
	}
	var docs []*ast.DocumentNode
	for _, doc := range f.Docs {
		if doc.Body != nil {
			docs = append(docs, doc)
		}
	}
	if len(docs) == 0 {
		y.add(span{}, "there is no job: the file is empty")
		return nil
	}
	if len(docs) > 1 {
		at := docs[1].Start
		if at == nil {
			at = docs[1].Body.GetToken()
		}
		y.add(y.span(at), "a job file holds one document; here the second begins")
		return nil
	}
	return y.node(docs[0].Body)
}

// deepYAML finds nesting that would exhaust the parser's stack: brackets, or
// indentation of more levels than anybody writes.
func deepYAML(text []byte) (span, bool) {
	depth := 0
	for i, line := 0, []byte(nil); i < len(text); i += len(line) + 1 {
		line = text[i:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		dashes := 0
		for j, c := range line {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			case '-', '?', ':':
				dashes++
			case ' ', '\t', '!', '&', '*':
			default:
				dashes = 0
			}
			if depth > maxDepth || dashes > maxDepth {
				return span{i + j, i + j + 1}, true
			}
		}
	}
	return span{}, false
}

func (y *yamlReader) syntaxError(err error) {
	var detailed interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &detailed) && detailed.GetToken() != nil {
		y.add(y.span(detailed.GetToken()), "%s", yamlMessage(detailed.GetMessage()))
		return
	}
	message, _, _ := strings.Cut(err.Error(), "\n")
	y.add(span{}, "%s", message)
}

// yamlMessage adds advice to what the library says about frequent mistakes.
func yamlMessage(message string) string {
	switch {
	case strings.Contains(message, "'\t' that cannot start any token"), strings.Contains(message, "'	' that cannot start any token"):
		return "YAML is indented with spaces, not tabs"
	case message == "value is not allowed in this context":
		return "this does not belong here; is it indented like its neighbours?"
	}
	return message
}

// span is where a token stands.
func (y *yamlReader) span(t *token.Token) span {
	if t == nil || t.Position == nil || t.Position.Line < 1 || t.Position.Line > len(y.lines) {
		return span{}
	}
	start := y.lines[t.Position.Line-1]
	for range t.Position.Column - 1 {
		if start >= len(y.text) || y.text[start] == '\n' {
			break
		}
		_, size := utf8.DecodeRune(y.text[start:])
		start += size
	}
	return span{start, start + len(strings.TrimSpace(t.Value))}
}

// node converts one node; what is wrong with it has been recorded when it
// returns null.
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

// entries reads the keys of a mapping. Merged keys (<<) come last and do not
// replace what the mapping says itself.
func (y *yamlReader) entries(out *node, values []*ast.MappingValueNode) {
	own := map[string]bool{}
	var merged []field
	for _, v := range values {
		if _, merge := v.Key.(*ast.MergeKeyNode); merge {
			merged = append(merged, y.merge(v.Value)...)
			continue
		}
		key := y.node(v.Key)
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

// firstOf makes a mapping stand where its first key does: the library places it
// at the colon.
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

// plainNumber writes YAML's 0x1f, 0o17 and 1_000 as a decimal number.
func plainNumber(s string) string {
	if i, ok := new(big.Int).SetString(strings.TrimPrefix(s, "+"), 0); ok {
		return i.String()
	}
	return s
}
