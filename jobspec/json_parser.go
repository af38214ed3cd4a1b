// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// jsonParser is a JSON reader that keeps places; encoding/json does not.
type jsonParser struct {
	text  []byte
	pos   int
	depth int
}

type jsonError struct {
	at      span
	message string
}

func (e *jsonError) Error() string { return e.message }

func (p *jsonParser) fail(at span, format string, args ...any) error {
	return &jsonError{at: at, message: fmt.Sprintf(format, args...)}
}

// here is the next character.
func (p *jsonParser) here() span {
	_, size := utf8.DecodeRune(p.text[p.pos:])
	return span{p.pos, p.pos + size}
}

func (p *jsonParser) document() (*node, error) {
	n, err := p.value()
	if err != nil {
		return nil, err
	}
	if p.space(); p.pos < len(p.text) {
		return nil, p.fail(p.here(), "there is something after the end of the document")
	}
	return n, nil
}

func (p *jsonParser) space() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return
		}
	}
}

func (p *jsonParser) value() (*node, error) {
	p.space()
	if p.pos >= len(p.text) {
		return nil, p.fail(p.here(), "the text ends where a value is expected")
	}
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(p.here(), "this is nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	switch c := p.text[p.pos]; {
	case c == '{':
		return p.object()
	case c == '[':
		return p.list()
	case c == '"':
		return p.string()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	return p.word()
}

func (p *jsonParser) object() (*node, error) {
	n := &node{kind: objectNode, at: p.here()}
	for p.pos++; ; {
		if p.space(); p.at('}') {
			p.pos++
			return n, nil
		}
		if len(n.fields) > 0 {
			if !p.at(',') {
				return nil, p.fail(p.here(), "expected a comma or } after the value of %q", n.fields[len(n.fields)-1].name)
			}
			comma := p.here()
			p.pos++
			if p.space(); p.at('}') {
				return nil, p.fail(comma, "JSON allows no comma before }")
			}
		}
		if !p.at('"') {
			return nil, p.fail(p.here(), "expected a key in double quotes")
		}
		key, err := p.string()
		if err != nil {
			return nil, err
		}
		if p.space(); !p.at(':') {
			return nil, p.fail(p.here(), "expected a colon after the key %q", key.text)
		}
		p.pos++
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		n.fields = append(n.fields, field{name: key.text, at: key.at, value: v})
	}
}

func (p *jsonParser) list() (*node, error) {
	n := &node{kind: listNode, at: p.here()}
	for p.pos++; ; {
		if p.space(); p.at(']') {
			p.pos++
			return n, nil
		}
		if len(n.items) > 0 {
			if !p.at(',') {
				return nil, p.fail(p.here(), "expected a comma or ] in the list")
			}
			comma := p.here()
			p.pos++
			if p.space(); p.at(']') {
				return nil, p.fail(comma, "JSON allows no comma before ]")
			}
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, v)
	}
}

func (p *jsonParser) at(c byte) bool { return p.pos < len(p.text) && p.text[p.pos] == c }

func (p *jsonParser) string() (*node, error) {
	start := p.pos
	for p.pos++; p.pos < len(p.text); p.pos++ {
		switch c := p.text[p.pos]; {
		case c == '\\':
			p.pos++
		case c == '\n':
			return nil, p.fail(span{start, p.pos}, "the text is not closed on its line")
		case c == '"':
			p.pos++
			var s string
			if err := json.Unmarshal(p.text[start:p.pos], &s); err != nil {
				return nil, p.fail(span{start, p.pos}, "the text is not valid JSON: control characters and \\ must be escaped")
			}
			return &node{kind: textNode, at: span{start, p.pos}, text: s}, nil
		}
	}
	return nil, p.fail(span{start, len(p.text)}, "the text is not closed")
}

func (p *jsonParser) number() (*node, error) {
	start := p.pos
	for p.pos < len(p.text) && (p.text[p.pos] >= '0' && p.text[p.pos] <= '9' || isOneOf(p.text[p.pos], "+-.eE")) {
		p.pos++
	}
	text := string(p.text[start:p.pos])
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !json.Valid([]byte(text)) {
		return nil, p.fail(span{start, p.pos}, "%q is not a number", shorten(text))
	}
	_ = f
	return &node{kind: numberNode, at: span{start, p.pos}, text: text}, nil
}

func (p *jsonParser) word() (*node, error) {
	start := p.pos
	for p.pos < len(p.text) && (p.text[p.pos] >= 'a' && p.text[p.pos] <= 'z' || p.text[p.pos] >= 'A' && p.text[p.pos] <= 'Z') {
		p.pos++
	}
	at := span{start, p.pos}
	switch word := string(p.text[start:p.pos]); word {
	case "true", "false":
		return &node{kind: boolNode, at: at, text: word}, nil
	case "null":
		return &node{kind: nullNode, at: at}, nil
	case "":
		return nil, p.fail(p.here(), "expected a value")
	default:
		return nil, p.fail(at, "expected a value; text must be in double quotes")
	}
}

func isOneOf(c byte, set string) bool {
	for i := range len(set) {
		if set[i] == c {
			return true
		}
	}
	return false
}
