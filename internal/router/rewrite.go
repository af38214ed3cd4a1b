// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router/http1"
)

// writeRequest puts the head that an instance receives into c.out.
func (c *conn) writeRequest(t target, path string, query []byte) {
	prefix := ""
	if t.route.StripPath && path != "*" {
		prefix = path[:len(keyOf(t.route).path)]
		path = stripPrefix(path, t.route.Path)
	}
	out := c.request.AppendHead(c.out[:0], path, query, c.trusted)
	out = c.appendForwarded(out)
	if prefix != "" {
		out = append(append(append(out, "X-Forwarded-Prefix: "...), prefix...), '\r', '\n')
	}
	if c.stack != "" {
		out = append(append(append(out, stackField+": "...), c.stack...), '\r', '\n')
	}
	out = append(append(out, "X-Request-Id: "...), c.record.id...)
	c.out = append(out, "\r\n\r\n"...)
}

// appendForwarded appends the fields about the origin of the request. It extends
// the fields of a trusted proxy, and replaces those of any other client.
func (c *conn) appendForwarded(out []byte) []byte {
	q := &c.request
	proto, host := false, false
	if !c.trusted {
		out, proto = append(out, c.forwarded...), true
	} else {
		out = append(out, "X-Forwarded-For: "...)
		for i := range q.Fields {
			switch f := &q.Fields[i]; f.Kind {
			case http1.ForwardedFor:
				out = append(append(out, f.Value...), ", "...)
			case http1.ForwardedProto:
				proto = true
			case http1.ForwardedHost:
				host = true
			}
		}
		out = append(append(out, c.peerText...), '\r', '\n')
	}
	if !proto {
		out = append(out, "X-Forwarded-Proto: http\r\n"...)
	}
	if !host {
		out = append(append(append(out, "X-Forwarded-Host: "...), q.Host...), '\r', '\n')
	}
	out = append(append(out, "Forwarded: for="...), c.node...)
	if len(q.Host) > 0 {
		out = append(append(append(out, ";host=\""...), q.Host...), '"')
	}
	return append(out, ";proto=http\r\n"...)
}

// writeResponse puts the head that the client receives into c.out.
func (c *conn) writeResponse(p *pool, t target, session string, upgraded bool) {
	a := &c.response
	out := a.AppendHead(c.out[:0])
	if a.Status >= 200 && p.sticky != "" && t.route.Protocol != api.RouteTCP && session != t.cookie() {
		out = append(append(append(out, "Set-Cookie: "...), setSession(p, t.instance, c.isSecure())...), '\r', '\n')
	}
	if a.Status >= 200 && c.newClient != "" {
		out = append(append(append(out, "Set-Cookie: "...), setCookie(clientCookie, c.newClient, "/", c.isSecure())...), '\r', '\n')
	}
	if a.Status >= 200 && c.previewed { // no cache may serve a preview to others
		out = append(out, "Vary: "+stackField+"\r\n"...)
	}
	out = a.AppendConnection(out, &c.request, upgraded)
	c.out = append(out, '\r', '\n')
}

// stripPrefix removes a route's path from the path of a request.
func stripPrefix(path, route string) string {
	path = path[len(strings.TrimRight(route, "/")):]
	if path == "" {
		return "/"
	}
	return path
}
