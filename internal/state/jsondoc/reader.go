// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jsondoc

import (
	"encoding/json"
	"unicode/utf8"
)

// maxDepth is the greatest nesting of a text: encoding/json rejects deeper ones than it
// allows.
const maxDepth = 200

// A reader is a position in a text.
type reader struct {
	text  []byte
	at    int
	depth int
	pool  *pool
}

// take consumes a byte if it is the next one.
func (r *reader) take(c byte) bool {
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

// word consumes a literal if it is the next one.
func (r *reader) word(w string) bool {
	if len(r.text)-r.at >= len(w) && string(r.text[r.at:r.at+len(w)]) == w {
		r.at += len(w)
		return true
	}
	return false
}

func (r *reader) null() bool {
	return r.at < len(r.text) && r.text[r.at] == 'n' && r.word("null")
}

// enter begins an object or a list.
func (r *reader) enter(c byte) bool {
	r.depth++
	return r.depth <= maxDepth && r.take(c)
}

// leave ends it.
func (r *reader) leave() bool {
	r.depth--
	return true
}

// quoted consumes a string and returns its content as it is written. plain reports whether
// that is the string itself.
func (r *reader) quoted() (content []byte, plain, ok bool) {
	if !r.take('"') {
		return nil, false, false
	}
	begin, escaped, ascii := r.at, false, true
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			content = r.text[begin:r.at]
			r.at++
			return content, !escaped, ascii || utf8.Valid(content)
		case c == '\\':
			escaped = true
			r.at++
		case c < ' ':
			return nil, false, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, false, false
}

// str consumes a string.
func (r *reader) str() (string, bool) {
	begin := r.at
	content, plain, ok := r.quoted()
	if !ok {
		return "", false
	}
	if plain {
		return r.pool.str(content), true
	}
	var s string
	err := json.Unmarshal(r.text[begin:r.at], &s)
	return s, err == nil
}

// number consumes a number and returns its text. whole reports whether it has neither a
// fraction nor an exponent.
func (r *reader) number() (number []byte, whole, ok bool) {
	begin := r.at
	r.take('-')
	if !r.take('0') && r.digits() == 0 {
		return nil, false, false
	}
	whole = true
	if r.take('.') {
		whole = false
		if r.digits() == 0 {
			return nil, false, false
		}
	}
	if r.take('e') || r.take('E') {
		whole = false
		if !r.take('+') {
			r.take('-')
		}
		if r.digits() == 0 {
			return nil, false, false
		}
	}
	return r.text[begin:r.at], whole, true
}

// digits consumes digits and returns how many.
func (r *reader) digits() int {
	begin := r.at
	for r.at < len(r.text) && '0' <= r.text[r.at] && r.text[r.at] <= '9' {
		r.at++
	}
	return r.at - begin
}

// value consumes a value without decoding it, and returns its text. It does not check that
// text.
func (r *reader) value() ([]byte, bool) {
	begin, open := r.at, 0
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case '"':
			if _, _, ok := r.quoted(); !ok {
				return nil, false
			}
			if open == 0 {
				return r.text[begin:r.at], true
			}
			continue
		case '{', '[':
			open++
		case '}', ']':
			if open == 0 {
				return r.text[begin:r.at], r.at > begin
			}
			if open--; open == 0 {
				r.at++
				return r.text[begin:r.at], true
			}
		case ',':
			if open == 0 {
				return r.text[begin:r.at], r.at > begin
			}
		}
		r.at++
	}
	return r.text[begin:], open == 0 && r.at > begin
}
