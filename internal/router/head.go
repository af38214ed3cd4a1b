// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"bytes"
	"net/http"
)

// A field is one line of a head, without its end.
type field struct {
	line, name, value []byte
	kind              kind
}

// A head is what requests and answers have in common. Its bytes belong to the
// connection that it was read from, until the next one is read.
type head struct {
	minor    int // of HTTP/1
	fields   []field
	length   int64 // of the body; -1: not said
	chunked  bool
	close    bool // the connection is to end afterwards
	keep     bool // asked for by HTTP/1.0
	upgrade  bool // connection: upgrade, and an upgrade field
	protocol []byte
}

// A request is a request's head.
type request struct {
	head
	method, target []byte // target in origin form, or "*"
	host           []byte
	expects        bool
	trailers       bool // te: trailers
}

// An answer is an answer's head.
type answer struct {
	head
	status int
	reason []byte
}

// A refusal is why a head is not taken.
type refusal struct {
	status int
	why    string
}

func (r *refusal) Error() string { return r.why }

func bad(why string) *refusal { return &refusal{http.StatusBadRequest, why} }

// cutLine cuts the first line off; strict wants it to end with CR LF, and not with
// LF alone.
func cutLine(b []byte, strict bool) (line, rest []byte, ok bool) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return nil, nil, false
	}
	line, rest = b[:i], b[i+1:]
	if i > 0 && line[i-1] == '\r' {
		return line[:i-1], rest, true
	}
	return line, rest, !strict
}

// endOfHead is where the empty line after a head ends; 0: it is not there yet.
// It looks from where it did not look before. Lines may end with LF alone here:
// whether they may is for the parser to say.
func endOfHead(b []byte, from int) int {
	from = max(from-3, 0)
	for {
		i := bytes.IndexByte(b[from:], '\n')
		if i < 0 {
			return 0
		}
		from += i + 1
		if from < len(b) && b[from] == '\n' {
			return from + 1
		}
		if from+1 < len(b) && b[from] == '\r' && b[from+1] == '\n' {
			return from + 2
		}
	}
}

// parse reads the fields of a head after its first line.
func (h *head) parse(b []byte, strict bool) *refusal {
	h.fields, h.length, h.chunked, h.close, h.keep, h.upgrade, h.protocol = h.fields[:0], -1, false, false, false, false, nil
	encoded := false
	for {
		line, rest, ok := cutLine(b, strict)
		if !ok {
			return bad("a line does not end with CR LF")
		}
		if len(line) == 0 {
			break
		}
		b = rest
		colon := bytes.IndexByte(line, ':')
		if colon <= 0 || !all(line[:colon], isToken) {
			return bad("a header field has no valid name")
		}
		f := field{line: line, name: line[:colon], value: trim(line[colon+1:])}
		if !all(f.value, isValue) {
			return bad("a header field's value has control characters")
		}
		f.kind = kindOf(f.name)
		switch f.kind {
		case fieldLength:
			n, ok := decimal(f.value)
			if !ok || h.length >= 0 && (strict || h.length != n) {
				return bad("content-length is not one number")
			}
			h.length = n
		case fieldEncoding:
			if encoded || !equalFold(f.value, "chunked") {
				return &refusal{http.StatusNotImplemented, "transfer-encoding is not chunked alone"}
			}
			encoded, h.chunked = true, true
		case fieldUpgrade:
			h.protocol = f.value
		case plain:
			if strict && looksLikeAnother(f.name) {
				f.kind = hop
			}
		}
		h.fields = append(h.fields, f)
	}
	return h.connection()
}

// mostNamed bounds what connection fields may name: each name is looked for
// among all fields.
const mostNamed = 32

// connection obeys the connection fields: what they name is for this connection
// only. They cannot take away what the router itself goes by.
func (h *head) connection() *refusal {
	named := 0
	for i := range h.fields {
		if h.fields[i].kind != fieldConnection {
			continue
		}
		for list := h.fields[i].value; len(list) > 0; {
			var token []byte
			token, list = nextToken(list)
			switch {
			case equalFold(token, "close"):
				h.close = true
			case equalFold(token, "keep-alive"):
				h.keep = true
			case equalFold(token, "upgrade"):
				h.upgrade = true
			default:
				if named++; named > mostNamed {
					return bad("the connection fields name too many others")
				}
				h.drop(token)
			}
		}
	}
	h.upgrade = h.upgrade && len(h.protocol) > 0
	return nil
}

func (h *head) drop(name []byte) {
	for i := range h.fields {
		if f := &h.fields[i]; f.kind == plain && bytes.EqualFold(f.name, name) {
			f.kind = hop
		}
	}
}

// parse reads a request's head, which ends with its empty line. Whatever could
// be read in two ways is refused: that is how requests are smuggled past a
// proxy.
func (r *request) parse(b []byte) *refusal {
	line, rest, ok := cutLine(b, true)
	if !ok {
		return bad("a line does not end with CR LF")
	}
	r.expects, r.trailers, r.host = false, false, nil
	first := bytes.IndexByte(line, ' ')
	last := bytes.LastIndexByte(line, ' ')
	if first <= 0 || last <= first+1 || !all(line[:first], isToken) || !all(line[first+1:last], isTarget) {
		return bad("the request line is not METHOD TARGET HTTP/1.1")
	}
	r.method, r.target = line[:first], line[first+1:last]
	switch string(line[last+1:]) {
	case "HTTP/1.1":
		r.minor = 1
	case "HTTP/1.0":
		r.minor = 0
	default:
		return &refusal{http.StatusHTTPVersionNotSupported, "only HTTP/1.1, HTTP/1.0 and HTTP/2 are spoken here"}
	}
	if err := r.head.parse(rest, true); err != nil {
		return err
	}
	hosts := 0
	for _, f := range r.fields {
		switch f.kind {
		case fieldHost:
			hosts++
			r.host = f.value
		case fieldExpect:
			if !equalFold(f.value, "100-continue") {
				return &refusal{http.StatusExpectationFailed, "the only expectation that can be met is 100-continue"}
			}
			r.expects = r.minor == 1
		case fieldTE:
			r.trailers = r.trailers || hasToken(f.value, "trailers")
		}
	}
	switch {
	case hosts > 1:
		return bad("there is more than one host")
	case hosts == 0 && r.minor == 1:
		return bad("there is no host")
	case !all(r.host, isHost):
		return bad("the host is not a name with a port")
	case r.chunked && r.length >= 0:
		return bad("there are both content-length and transfer-encoding")
	case r.chunked && r.minor == 0:
		return bad("HTTP/1.0 has no transfer-encoding")
	}
	r.close = r.close || r.minor == 0 && !r.keep
	r.upgrade = r.upgrade && r.minor == 1 && !r.chunked && r.length <= 0 && !hasToken(r.protocol, "h2c")
	return r.parseTarget()
}

// hasToken reports whether a list has a word, which is in lower case. HTTP/2
// (h2c) is not to be had by an upgrade: within it, requests for other hosts and
// paths would go to the instance past the router.
func hasToken(list []byte, word string) bool {
	for len(list) > 0 {
		var token []byte
		if token, list = nextToken(list); equalFold(token, word) {
			return true
		}
	}
	return false
}

// parseTarget brings the target into origin form.
func (r *request) parseTarget() *refusal {
	switch {
	case string(r.method) == http.MethodConnect:
		return &refusal{http.StatusMethodNotAllowed, "CONNECT is for proxies that clients are set up to use"}
	case r.target[0] == '/':
		if !areEscapes(r.target) {
			return badEscape
		}
		return nil
	case string(r.target) == "*" && string(r.method) == http.MethodOptions:
		return nil
	case len(r.target) > 7 && equalFold(r.target[:7], "http://"):
		rest := r.target[7:]
		end := bytes.IndexAny(rest, "/?")
		if end < 0 {
			end = len(rest)
		}
		if end == 0 || !all(rest[:end], isHost) {
			return bad("the target's host is not a name with a port")
		}
		r.host, r.target = rest[:end], rest[end:]
		if len(r.target) == 0 {
			r.target = slash
		}
		if r.target[0] == '?' {
			return bad("the target has no path")
		}
		if !areEscapes(r.target) {
			return badEscape
		}
		return nil
	}
	return bad("the target is not a path")
}

var (
	slash     = []byte("/")
	badEscape = bad("the path has a % that is not followed by two hexadecimal digits")
)

// parse reads an answer's head. Instances may end lines with LF alone: what is
// passed on is written anew.
func (a *answer) parse(b []byte) *refusal {
	line, rest, _ := cutLine(b, false)
	if len(line) < 12 || string(line[:7]) != "HTTP/1." || line[8] != ' ' || line[7] != '0' && line[7] != '1' {
		return bad("it does not begin with HTTP/1.1 and a status")
	}
	a.minor = int(line[7] - '0')
	status, ok := decimal(line[9:12])
	if !ok || status < 100 || status > 599 || len(line) > 12 && line[12] != ' ' {
		return bad("its status is not a number from 100 to 599")
	}
	a.status, a.reason = int(status), line[12:]
	if !all(a.reason, isValue) {
		return bad("its status has control characters")
	}
	if err := a.head.parse(rest, false); err != nil {
		return err
	}
	if a.chunked && a.minor == 0 {
		return bad("HTTP/1.0 has no transfer-encoding")
	}
	a.close = a.close || a.minor == 0 && !a.keep || a.chunked && a.length >= 0
	return nil
}

// hasBody reports whether an answer to a method has a body, whatever its head
// says.
func (a *answer) hasBody(method []byte) bool {
	return a.status >= 200 && a.status != http.StatusNoContent && a.status != http.StatusNotModified && string(method) != http.MethodHead
}
