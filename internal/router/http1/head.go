// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"bytes"
	"net/http"
)

// A Head holds the common part of the heads of requests and responses. Its
// slices share the memory of the parsed bytes.
type Head struct {
	Minor    int // version of HTTP/1
	Fields   []Field
	Length   int64 // value of Content-Length, -1 without one
	Chunked  bool  // reports whether the body is chunked
	Close    bool  // reports whether the connection ends after the message
	Upgrade  bool  // reports whether the message changes the connection's protocol, or asks for it
	Protocol []byte

	keep bool // reports whether an HTTP/1.0 peer keeps the connection open
}

// EndOfHead returns the length of the head at the beginning of b, including its
// empty line, or 0 if b does not contain all of it. The first seen bytes are
// those of an earlier call. Here lines may end with LF alone; the parsers decide
// whether they accept that.
func EndOfHead(b []byte, seen int) int {
	from := max(seen-3, 0)
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

// cutLine splits b after its first line. With strict, the line must end with CR
// LF.
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

// parse parses the fields of a head, which follow its first line.
func (h *Head) parse(b []byte, strict bool) *Error {
	*h = Head{Minor: h.Minor, Fields: h.Fields[:0], Length: -1}
	for {
		line, rest, ok := cutLine(b, strict)
		if !ok {
			return bad("a line does not end with CR LF")
		}
		if len(line) == 0 {
			return h.applyConnection()
		}
		b = rest
		f, err := parseField(line)
		if err != nil {
			return err
		}
		switch f.Kind {
		case ContentLength:
			n, ok := decimal(f.Value)
			if !ok || h.Length >= 0 && (strict || h.Length != n) {
				return bad("content-length is not one number")
			}
			h.Length = n
		case TransferEncoding:
			if h.Chunked || !EqualFold(f.Value, "chunked") {
				return &Error{http.StatusNotImplemented, "transfer-encoding is not chunked alone"}
			}
			h.Chunked = true
		case Upgrade:
			h.Protocol = f.Value
		case Plain:
			if strict && LooksLikeAnother(f.Name) {
				f.Kind = Hop
			}
		}
		h.Fields = append(h.Fields, f)
	}
}

// parseField parses one line.
func parseField(line []byte) (Field, *Error) {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || !IsToken(line[:colon]) {
		return Field{}, bad("a header field has no valid name")
	}
	f := Field{Line: line, Name: line[:colon], Value: Trim(line[colon+1:])}
	if !all(f.Value, isValue) {
		return Field{}, bad("a header field's value has control characters")
	}
	f.Kind = KindOf(f.Name)
	return f, nil
}

// maxNamed limits the names in Connection fields: applyConnection searches all
// fields for each of them.
const maxNamed = 32

// applyConnection applies the Connection fields: it marks the fields that they
// name as Hop. They cannot remove a field that the proxy itself uses.
func (h *Head) applyConnection() *Error {
	named := 0
	for i := range h.Fields {
		if h.Fields[i].Kind != Connection {
			continue
		}
		for list := h.Fields[i].Value; len(list) > 0; {
			var token []byte
			token, list = nextToken(list)
			switch {
			case EqualFold(token, "close"):
				h.Close = true
			case EqualFold(token, "keep-alive"):
				h.keep = true
			case EqualFold(token, "upgrade"):
				h.Upgrade = true
			default:
				if named++; named > maxNamed {
					return bad("the connection fields name too many others")
				}
				h.drop(token)
			}
		}
	}
	h.Upgrade = h.Upgrade && len(h.Protocol) > 0
	return nil
}

// drop marks the plain fields with a name as Hop.
func (h *Head) drop(name []byte) {
	for i := range h.Fields {
		if f := &h.Fields[i]; f.Kind == Plain && bytes.EqualFold(f.Name, name) {
			f.Kind = Hop
		}
	}
}
