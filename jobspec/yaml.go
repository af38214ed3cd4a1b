// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/reeve-run/reeve/api"
)

// maxNodes bounds the size of a document after the expansion of its aliases.
const maxNodes = 1 << 18

// parseYAML parses the API's model written as YAML.
func parseYAML(src Source, opts Options) (*api.Job, error) {
	m := &modelDecoder{problems: problems{file: src.Name, text: src.Text}, syntax: "YAML", lenient: true, section: opts.sections}
	y := newYAMLReader(&m.problems)
	root := y.document()
	if len(m.list) > 0 {
		return nil, m.err()
	}
	return m.job(root)
}

// A yamlReader converts the library's syntax tree, and resolves anchors and merges.
type yamlReader struct {
	*problems
	lines   []int // byte offset of each line
	anchors map[string]ast.Node
	open    []string // anchors being resolved
	nodes   int
	bytes   int // total size of texts
	depth   int
}

func newYAMLReader(ps *problems) *yamlReader {
	return &yamlReader{problems: ps, anchors: map[string]ast.Node{}}
}

func (y *yamlReader) document() *node {
	y.lines = []int{0}
	for i, c := range y.text {
		if c == '\n' {
			y.lines = append(y.lines, i+1)
		}
	}
	if at, deep := deepYAML(y.text); deep {
		y.add(at, "this is nested more than %d deep", maxDepth)
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

// deepYAML finds nesting that would exhaust the parser's stack: of brackets, or of
// indentation.
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

// yamlMessage adds advice to the library's messages about frequent errors.
func yamlMessage(message string) string {
	switch {
	case strings.Contains(message, "'\t' that cannot start any token"), strings.Contains(message, "'	' that cannot start any token"):
		return "YAML is indented with spaces, not tabs"
	case message == "value is not allowed in this context":
		return "this does not belong here; is it indented like its neighbours?"
	}
	return message
}

// span returns the position of a token.
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
