// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"net/http"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// writeRequest puts the head that an instance gets into c.out.
func (c *conn) writeRequest(t target, path string, query []byte) {
	q := &c.request
	out := append(c.out[:0], q.method...)
	out = append(out, ' ')
	prefix := ""
	if t.route.StripPath && path != "*" {
		prefix = path[:len(keyOf(t.route).path)]
		path = stripped(path, t.route.Path)
	}
	out = append(out, path...)
	out = append(out, query...)
	if q.minor == 1 {
		out = append(out, " HTTP/1.1\r\nHost: "...)
	} else {
		out = append(out, " HTTP/1.0\r\nHost: "...)
	}
	out = append(out, q.host...)
	out = append(out, '\r', '\n')
	for i := range q.fields {
		f := &q.fields[i]
		switch f.kind {
		case plain, fieldCookie, fieldContentType, fieldExpect:
		case fieldForwarded, fieldForwardedFor, fieldForwardedProto, fieldForwardedHost:
			if !c.believed || f.kind == fieldForwardedFor {
				continue
			}
		case fieldEncoding:
			out = append(out, "Transfer-Encoding: chunked\r\n"...)
			continue
		case fieldLength:
			out = append(out, "Content-Length: "...)
			out = append(strconv.AppendInt(out, q.length, 10), '\r', '\n')
			continue
		default:
			continue
		}
		out = append(append(out, f.line...), '\r', '\n')
	}
	switch {
	case q.upgrade:
		out = append(out, "Connection: Upgrade\r\nUpgrade: "...)
		out = append(append(out, q.protocol...), '\r', '\n')
	case q.minor == 0:
		out = append(out, "Connection: close\r\n"...)
	}
	if q.trailers {
		out = append(out, "TE: trailers\r\n"...)
	}
	out = c.appendForwarded(out)
	if prefix != "" {
		out = append(append(append(out, "X-Forwarded-Prefix: "...), prefix...), '\r', '\n')
	}
	out = append(append(out, "X-Request-Id: "...), c.record.id...)
	c.out = append(out, "\r\n\r\n"...)
}

// appendForwarded says where the request came from. Only what a trusted proxy
// says is added to; what anybody else says is replaced.
func (c *conn) appendForwarded(out []byte) []byte {
	q := &c.request
	proto, host := false, false
	if !c.believed {
		out, proto = append(out, c.forwarded...), true
	} else {
		out = append(out, "X-Forwarded-For: "...)
		for i := range q.fields {
			switch f := &q.fields[i]; f.kind {
			case fieldForwardedFor:
				out = append(append(out, f.value...), ", "...)
			case fieldForwardedProto:
				proto = true
			case fieldForwardedHost:
				host = true
			}
		}
		out = append(append(out, c.peerText...), '\r', '\n')
	}
	if !proto {
		out = append(out, "X-Forwarded-Proto: http\r\n"...)
	}
	if !host {
		out = append(append(append(out, "X-Forwarded-Host: "...), q.host...), '\r', '\n')
	}
	out = append(append(out, "Forwarded: for="...), c.node...)
	if len(q.host) > 0 {
		out = append(append(append(out, ";host=\""...), q.host...), '"')
	}
	return append(out, ";proto=http\r\n"...)
}

// writeAnswer puts the head that the client gets into c.out.
func (c *conn) writeAnswer(p *pool, t target, session string, upgraded bool) {
	a := &c.answer
	out := append(c.out[:0], "HTTP/1.1 "...)
	out = strconv.AppendInt(out, int64(a.status), 10)
	if len(a.reason) == 0 {
		out = append(out, ' ')
	}
	out = append(append(out, a.reason...), '\r', '\n')
	bodiless, said := a.status < 200 || a.status == http.StatusNoContent, false
	for i := range a.fields {
		f := &a.fields[i]
		switch f.kind {
		case hop, fieldConnection, fieldUpgrade:
			continue
		case fieldEncoding:
			if bodiless {
				continue
			}
		case fieldLength:
			if bodiless || a.chunked || said {
				continue
			}
			said = true
			out = append(out, "Content-Length: "...)
			out = append(strconv.AppendInt(out, a.length, 10), '\r', '\n')
			continue
		}
		out = append(append(out, f.line...), '\r', '\n')
	}
	final := a.status >= 200
	if final && p.sticky != "" && t.route.Protocol != api.RouteTCP && session != t.cookie() {
		out = append(append(append(out, "Set-Cookie: "...), setSession(p, t.instance)...), '\r', '\n')
	}
	switch {
	case upgraded:
		out = append(out, "Connection: Upgrade\r\nUpgrade: "...)
		out = append(append(out, a.protocol...), '\r', '\n')
	case final && c.request.close:
		out = append(out, "Connection: close\r\n"...)
	case final && c.request.minor == 0:
		out = append(out, "Connection: keep-alive\r\n"...)
	}
	c.out = append(out, '\r', '\n')
}
