// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// jsonParser builds the tree of a JSON document. encoding/json reads the tokens;
// jsonParser adds their positions, and explains invalid syntax.
type jsonParser struct {
	text   []byte
	tokens *json.Decoder
	last   span // the position of the last valid token
}

type jsonError struct {
	at      span
	message string
}

func (p *jsonParser) document() (*node, *jsonError) {
	p.tokens = json.NewDecoder(bytes.NewReader(p.text))
	p.tokens.UseNumber()
	n, problem := p.value(nil, 1)
	if problem != nil {
		return nil, problem
	}
	if _, err := p.tokens.Token(); err != io.EOF {
		return nil, p.explain(nil)
	}
	return n, nil
}

// token reads a token in an object or a list, and sets its position in last.
func (p *jsonParser) token(in *node) (json.Token, *jsonError) {
	start := p.skipSpace(p.last.end)
	if p.has(start, ',') || p.has(start, ':') {
		start = p.skipSpace(start + 1)
	}
	t, err := p.tokens.Token()
	if err != nil {
		return nil, p.explain(in)
	}
	p.last = span{start, int(p.tokens.InputOffset())}
	return t, nil
}

func (p *jsonParser) value(in *node, depth int) (*node, *jsonError) {
	t, problem := p.token(in)
	switch {
	case problem != nil:
		return nil, problem
	case depth > maxDepth:
		return nil, p.fail(p.last.start, "this is nested more than %d deep", maxDepth)
	}
	n := &node{kind: nullNode, at: p.last}
	switch t := t.(type) {
	case bool:
		n.kind, n.text = boolNode, strconv.FormatBool(t)
	case string:
		n.kind, n.text = textNode, t
	case json.Number:
		n.kind, n.text = numberNode, t.String()
		if _, err := t.Float64(); err != nil {
			return nil, p.explainValue(p.last.start)
		}
	case json.Delim:
		n.kind = listNode
		if t == '{' {
			n.kind = objectNode
		}
		return n, p.elements(n, depth+1)
	}
	return n, nil
}

// elements reads an object or a list after its opening bracket.
func (p *jsonParser) elements(n *node, depth int) *jsonError {
	for p.tokens.More() {
		if n.kind == objectNode {
			key, problem := p.token(n)
			if problem != nil {
				return problem
			}
			n.fields = append(n.fields, field{name: key.(string), at: p.last})
		}
		v, problem := p.value(n, depth)
		switch {
		case problem != nil:
			return problem
		case n.kind == objectNode:
			n.fields[len(n.fields)-1].value = v
		default:
			n.items = append(n.items, v)
		}
	}
	_, problem := p.token(n) // the closing bracket
	return problem
}

// explain returns the error for the text after the last valid token.
func (p *jsonParser) explain(in *node) *jsonError {
	at := p.skipSpace(p.last.end)
	switch {
	case p.word(p.last.start).end > p.last.end: // 01 or nullable: the token ends within a word
		return p.explainValue(p.last.start)
	case in == nil && p.last.end > 0:
		return p.fail(at, "expected the end of the document")
	case in == nil || len(in.items)+len(in.fields) == 0:
		return p.explainElement(in, at)
	}
	bracket, place := '}', "in the list"
	if in.kind == listNode {
		bracket = ']'
	} else if f := in.fields[len(in.fields)-1]; f.value != nil {
		place = fmt.Sprintf("after the value of %q", f.name)
	} else if p.has(at, ':') {
		return p.explainValue(p.skipSpace(at + 1))
	} else {
		return p.fail(at, "expected a colon after the key %q", f.name)
	}
	next := p.skipSpace(min(at+1, len(p.text)))
	switch {
	case !p.has(at, ','):
		return p.fail(at, "expected a comma or %c %s", bracket, place)
	case p.has(next, byte(bracket)):
		return p.fail(at, "JSON allows no comma before %c", bracket)
	}
	return p.explainElement(in, next)
}

// explainElement returns the error for a position without a valid key or value.
func (p *jsonParser) explainElement(in *node, start int) *jsonError {
	if in != nil && in.kind == objectNode && !p.has(start, '"') {
		return p.fail(start, "expected a key in double quotes")
	}
	return p.explainValue(start)
}

func (p *jsonParser) explainValue(start int) *jsonError {
	at := p.word(start)
	switch word := string(p.text[at.start:at.end]); {
	case start == len(p.text):
		return p.fail(start, "the text ends where a value is expected")
	case p.text[start] == '"':
		return p.explainText(start)
	case word == "":
		return p.fail(start, "expected a value")
	case word[0] <= '9':
		return &jsonError{at, fmt.Sprintf("%q is not a number", shorten(word))}
	}
	return &jsonError{at, "expected a value; text must be in double quotes"}
}

func (p *jsonParser) explainText(start int) *jsonError {
	for end := start + 1; end < len(p.text); end++ {
		switch p.text[end] {
		case '\\':
			end++
		case '\n':
			return &jsonError{span{start, end}, "the text is not closed on its line"}
		case '"':
			return &jsonError{span{start, end + 1}, "the text is not valid JSON: control characters and \\ must be escaped"}
		}
	}
	return &jsonError{span{start, len(p.text)}, "the text is not closed"}
}

// fail returns an error about one character.
func (p *jsonParser) fail(at int, format string, args ...any) *jsonError {
	_, size := utf8.DecodeRune(p.text[at:])
	return &jsonError{span{at, at + size}, fmt.Sprintf(format, args...)}
}

// word returns the position of the number or the word at start, which may be empty.
func (p *jsonParser) word(start int) span {
	letters := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if start < len(p.text) && bytes.IndexByte([]byte("-0123456789"), p.text[start]) >= 0 {
		letters = "0123456789+-.eE"
	}
	return span{start, len(p.text) - len(bytes.TrimLeft(p.text[start:], letters))}
}

func (p *jsonParser) skipSpace(at int) int {
	return len(p.text) - len(bytes.TrimLeft(p.text[at:], " \t\r\n"))
}

func (p *jsonParser) has(at int, c byte) bool { return at < len(p.text) && p.text[at] == c }
