// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"bytes"
	"net/http"
	"strconv"
)

// A Request is the head of a request.
type Request struct {
	Head
	Method   []byte
	Target   []byte // in origin form, or "*"
	Host     []byte
	Expects  bool // reports whether the client waits for 100 Continue
	Trailers bool // reports whether the client accepts trailers
}

// Reset clears the request, so that a response to an unreadable head closes the
// connection.
func (r *Request) Reset() { *r = Request{Head: Head{Fields: r.Fields[:0], Length: -1, Close: true}} }

// Parse parses the head of a request, which ends with its empty line. It rejects
// each head that two parsers could read differently, because attackers smuggle
// requests past a proxy that way.
func (r *Request) Parse(b []byte) *Error {
	rest, err := r.parseLine(b)
	if err != nil {
		return err
	}
	if err := r.parse(rest, true); err != nil {
		return err
	}
	if err := r.check(); err != nil {
		return err
	}
	r.Close = r.Close || r.Minor == 0 && !r.keep
	r.Upgrade = r.Upgrade && r.Minor == 1 && !r.Chunked && r.Length <= 0 && MayUpgradeTo(r.Protocol)
	host, target, err := ParseTarget(r.Method, r.Target)
	if err != nil {
		return err
	}
	if r.Target = target; host != nil {
		r.Host = host
	}
	return nil
}

// MayUpgradeTo reports whether a connection may change to a protocol. It may not
// change to HTTP/2: requests for other hosts and paths would then bypass the
// proxy.
func MayUpgradeTo(protocol []byte) bool { return !hasToken(protocol, "h2c") }

// parseLine parses the request line, and returns the bytes after it.
func (r *Request) parseLine(b []byte) ([]byte, *Error) {
	line, rest, ok := cutLine(b, true)
	if !ok {
		return nil, bad("a line does not end with CR LF")
	}
	r.Expects, r.Trailers, r.Host = false, false, nil
	first := bytes.IndexByte(line, ' ')
	last := bytes.LastIndexByte(line, ' ')
	if first <= 0 || last <= first+1 || !IsToken(line[:first]) || !IsTarget(line[first+1:last]) {
		return nil, bad("the request line is not METHOD TARGET HTTP/1.1")
	}
	r.Method, r.Target = line[:first], line[first+1:last]
	switch string(line[last+1:]) {
	case "HTTP/1.1":
		r.Minor = 1
	case "HTTP/1.0":
		r.Minor = 0
	default:
		return nil, &Error{http.StatusHTTPVersionNotSupported, "only HTTP/1.1, HTTP/1.0 and HTTP/2 are spoken here"}
	}
	return rest, nil
}

// check applies the rules about several fields together.
func (r *Request) check() *Error {
	hosts := 0
	for _, f := range r.Fields {
		switch f.Kind {
		case Host:
			hosts++
			r.Host = f.Value
		case Expect:
			if !EqualFold(f.Value, "100-continue") {
				return &Error{http.StatusExpectationFailed, "the only expectation that can be met is 100-continue"}
			}
			r.Expects = r.Minor == 1
		case TE:
			r.Trailers = r.Trailers || hasToken(f.Value, "trailers")
		}
	}
	switch {
	case hosts > 1:
		return bad("there is more than one host")
	case hosts == 0 && r.Minor == 1:
		return bad("there is no host")
	case !IsHost(r.Host):
		return bad("the host is not a name with a port")
	case r.Chunked && r.Length >= 0:
		return bad("there are both content-length and transfer-encoding")
	case r.Chunked && r.Minor == 0:
		return bad("HTTP/1.0 has no transfer-encoding")
	}
	return nil
}

// Body returns the framing of the request's body.
func (r *Request) Body() Body {
	switch {
	case r.Chunked:
		return Body{framing: framedByChunks}
	default:
		return Body{left: max(r.Length, 0)}
	}
}

// AppendHead appends the head that the next server receives, without its empty
// line: fields for this connection are missing, and the fields that define the
// body's length are normalized. With keepForwarding, it keeps the client's
// fields about the origin of the request, except X-Forwarded-For, which the
// caller extends.
func (r *Request) AppendHead(out []byte, path string, query []byte, keepForwarding bool) []byte {
	out = append(append(out, r.Method...), ' ')
	out = append(append(out, path...), query...)
	if r.Minor == 1 {
		out = append(out, " HTTP/1.1\r\nHost: "...)
	} else {
		out = append(out, " HTTP/1.0\r\nHost: "...)
	}
	out = append(append(out, r.Host...), '\r', '\n')
	for i := range r.Fields {
		f := &r.Fields[i]
		switch f.Kind {
		case Plain, Cookie, ContentType, Expect:
		case Forwarded, ForwardedProto, ForwardedHost:
			if !keepForwarding {
				continue
			}
		case TransferEncoding:
			out = append(out, "Transfer-Encoding: chunked\r\n"...)
			continue
		case ContentLength:
			out = appendLength(out, r.Length)
			continue
		default:
			continue
		}
		out = append(append(out, f.Line...), '\r', '\n')
	}
	switch {
	case r.Upgrade:
		out = append(out, "Connection: Upgrade\r\nUpgrade: "...)
		out = append(append(out, r.Protocol...), '\r', '\n')
	case r.Minor == 0:
		out = append(out, "Connection: close\r\n"...)
	}
	if r.Trailers {
		out = append(out, "TE: trailers\r\n"...)
	}
	return out
}

func appendLength(out []byte, n int64) []byte {
	out = append(out, "Content-Length: "...)
	return append(strconv.AppendInt(out, n, 10), '\r', '\n')
}
