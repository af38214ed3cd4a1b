// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrittenHeadsAreNormalized(t *testing.T) {
	for what, c := range map[string]struct{ in, want string }{
		"fields of one connection": {
			"GET /a HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, X-Mine\r\nX-Mine: 1\r\nKeep-Alive: 5\r\nProxy: y\r\nTE: trailers, gzip\r\nA:  b \r\n\r\n",
			"GET /a HTTP/1.1\r\nHost: x\r\nA:  b \r\nTE: trailers\r\n",
		},
		"lengths":            {"POST / HTTP/1.1\r\nHost: x\r\ncontent-length: 007\r\n\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 7\r\n"},
		"chunks":             {"POST / HTTP/1.1\r\nHost: x\r\nTRANSFER-ENCODING:\tChunked \r\n\r\n", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"},
		"an absolute target": {"GET HTTP://y:80/a?b HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a?b HTTP/1.1\r\nHost: y:80\r\n"},
		"an upgrade": {
			"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
		},
		"an upgrade to HTTP/2": {
			"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: a\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: x\r\n",
		},
		"HTTP/1.0":  {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET / HTTP/1.0\r\nHost: \r\nConnection: close\r\n"},
		"disguises": {"GET / HTTP/1.1\r\nHost: x\r\nContent_Length: 5\r\nX_Forwarded_For: y\r\nMy_Field: z\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nMy_Field: z\r\n"},
		"origins":   {"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: y\r\nForwarded: for=y\r\nX-Real-IP: y\r\nX-Request-Id: i\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n"},
	} {
		var q Request
		if err := q.Parse([]byte(c.in)); err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		path, query := SplitTarget(q.Target)
		if diff := cmp.Diff(c.want, string(q.AppendHead(nil, path, query, false))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	for what, c := range map[string]struct{ in, request, want string }{
		"fields of one connection": {"HTTP/1.1 200 OK\r\nConnection: close, X-Mine\r\nX-Mine: 1\r\nA: b\r\nContent-Length: 2\r\n\r\n", "HTTP/1.1\r\nHost: x", "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 2\r\n"},
		"line feeds":               {"HTTP/1.0 200\nA: b\n\n", "HTTP/1.1\r\nHost: x", "HTTP/1.1 200 \r\nA: b\r\n"},
		"equal lengths":            {"HTTP/1.1 200 OK\r\nContent-Length: 02\r\nContent-Length: 2\r\n\r\n", "HTTP/1.1\r\nHost: x", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"},
		"both framings":            {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1\r\nHost: x", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"},
		"no body":                  {"HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\n", "HTTP/1.1\r\nHost: x", "HTTP/1.1 204 No\r\n"},
		"the end of a connection":  {"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1\r\nHost: x\r\nConnection: close", "HTTP/1.1 200 OK\r\nConnection: close\r\n"},
		"HTTP/1.0 that continues":  {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.0\r\nConnection: keep-alive", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n"},
	} {
		var q Request
		var a Response
		if err := q.Parse([]byte("GET / " + c.request + "\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		if err := a.Parse([]byte(c.in)); err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if diff := cmp.Diff(c.want, string(a.AppendConnection(a.AppendHead(nil), &q, false))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

// The next server reads a forwarded request as this package did.
func TestWrittenRequestsMeanTheSameToNetHTTP(t *testing.T) {
	n := 0
	for _, e := range requests() {
		ours, err := readRequest([]byte(e.text))
		if err != nil {
			continue
		}
		n++
		if problem := rewritten([]byte(e.text), ours); problem != "" {
			t.Errorf("%s: %s", e.name, problem)
		}
	}
	if n < 600 {
		t.Errorf("only %d requests of the corpus are accepted", n)
	}
}

// rewritten writes an accepted request as the proxy does, and describes what
// net/http reads differently.
func rewritten(text []byte, ours *reading) string {
	end := EndOfHead(text, 0)
	var q Request
	if err := q.Parse(text[:end]); err != nil {
		return err.Error()
	}
	path, query := "*", []byte(nil)
	if q.Target[0] == '/' {
		path, query = SplitTarget(q.Target)
	}
	out := append(q.AppendHead(nil, path, query, false), '\r', '\n')
	out = append(out, text[end:]...)
	theirs, err := readRequestByNetHTTP(out)
	if err != nil {
		return fmt.Sprintf("net/http rejects %q: %v", out, err)
	}
	start := fmt.Sprintf("%s %s%s %s", q.Method, path, query, q.Host)
	switch {
	case theirs.Start != start, theirs.Body != ours.Body, theirs.Rest != ours.Rest, theirs.Length != ours.Length:
		return fmt.Sprintf("net/http reads %q as %q with the body %q, %d bytes before the next request; want %q, %q and %d", out, theirs.Start, theirs.Body, theirs.Rest, start, ours.Body, ours.Rest)
	}
	for name := range theirs.Fields {
		if k := KindOf([]byte(name)); k == Hop || k >= Forwarded && k <= RequestID || strings.Contains(name, "_") && LooksLikeAnother([]byte(name)) {
			return fmt.Sprintf("the field %s was forwarded", name)
		}
	}
	return ""
}
