// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"net/http"
	"strconv"
)

// A Response is the head of a response.
type Response struct {
	Head
	Status int
	Reason []byte // with the space before it
}

// Parse parses the head of a response, which ends with its empty line. Its lines
// may end with LF alone, because AppendHead normalizes them.
func (a *Response) Parse(b []byte) *Error {
	line, rest, _ := cutLine(b, false)
	if len(line) < 12 || string(line[:7]) != "HTTP/1." || line[8] != ' ' || line[7] != '0' && line[7] != '1' {
		return bad("it does not begin with HTTP/1.1 and a status")
	}
	a.Minor = int(line[7] - '0')
	status, ok := decimal(line[9:12])
	if !ok || status < 100 || status > 599 || len(line) > 12 && line[12] != ' ' {
		return bad("its status is not a number from 100 to 599")
	}
	a.Status, a.Reason = int(status), line[12:]
	if !all(a.Reason, isValue) {
		return bad("its status has control characters")
	}
	if err := a.parse(rest, false); err != nil {
		return err
	}
	if a.Chunked && a.Minor == 0 {
		return bad("HTTP/1.0 has no transfer-encoding")
	}
	a.Close = a.Close || a.Minor == 0 && !a.keep || a.Chunked && a.Length >= 0
	return nil
}

// HasBody reports whether the response to a method has a body, regardless of
// its fields.
func (a *Response) HasBody(method []byte) bool {
	return a.Status >= 200 && a.Status != http.StatusNoContent && a.Status != http.StatusNotModified && string(method) != http.MethodHead
}

// Body returns the framing of the body of the response to a method.
func (a *Response) Body(method []byte) Body {
	switch {
	case !a.HasBody(method):
		return Body{}
	case a.Chunked:
		return Body{framing: framedByChunks}
	case a.Length < 0:
		return Body{framing: framedByClose}
	}
	return Body{left: a.Length}
}

// AppendHead appends the head that the client receives, without its empty line
// and without the fields for this connection. It normalizes the fields that
// define the body's length.
func (a *Response) AppendHead(out []byte) []byte {
	out = append(out, "HTTP/1.1 "...)
	out = strconv.AppendInt(out, int64(a.Status), 10)
	if len(a.Reason) == 0 {
		out = append(out, ' ')
	}
	out = append(append(out, a.Reason...), '\r', '\n')
	bodiless, written := a.Status < 200 || a.Status == http.StatusNoContent, false
	for i := range a.Fields {
		f := &a.Fields[i]
		switch f.Kind {
		case Hop, Connection, Upgrade:
			continue
		case TransferEncoding:
			if bodiless {
				continue
			}
		case ContentLength:
			if !bodiless && !a.Chunked && !written {
				written = true
				out = appendLength(out, a.Length)
			}
			continue
		}
		out = append(append(out, f.Line...), '\r', '\n')
	}
	return out
}

// AppendConnection appends the Connection field of a response to r, if it needs
// one. With upgraded, the connection changes to the response's protocol.
func (a *Response) AppendConnection(out []byte, r *Request, upgraded bool) []byte {
	final := a.Status >= 200
	switch {
	case upgraded:
		out = append(out, "Connection: Upgrade\r\nUpgrade: "...)
		out = append(append(out, a.Protocol...), '\r', '\n')
	case final && r.Close:
		out = append(out, "Connection: close\r\n"...)
	case final && r.Minor == 0:
		out = append(out, "Connection: keep-alive\r\n"...)
	}
	return out
}
