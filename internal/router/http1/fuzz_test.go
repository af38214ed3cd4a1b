// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Whatever the router takes for a request, net/http must take for the same one:
// the same method, target, host, framing and fields, and the same end.
func FuzzRequestsMeanTheSameToNetHTTP(f *testing.F) {
	for _, s := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /a?b HTTP/1.1\r\nHost: x:80\r\nContent-Length: 3\r\nA: b \r\nConnection: close, a\r\n\r\nabc",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nA: b\r\n\r\n",
		"GET http://y/z HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
		"GET / HTTP/1.1\nHost: x\n\n",
		"GET /%%361?%zz HTTP/1.1\r\nHost: x\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 04\r\nContent-Length: 4\r\n\r\nabcd",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\tChunked \r\nTE: trailers\r\n\r\nA;b=\"c\"\r\n0123456789\r\n00\r\nContent-Length: 1\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent_Length: 3\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\na",
		"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		end := EndOfHead(text, 0)
		if end == 0 {
			return
		}
		var q Request
		if q.Parse(text[:end]) != nil {
			return
		}
		theirs, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(text)))
		if err != nil {
			// It may be stricter, above all about targets; such a request is refused
			// by an instance. What must not be is that it sees another one.
			return
		}
		if string(q.Method) != theirs.Method || !strings.EqualFold(string(q.Host), theirs.Host) {
			t.Fatalf("%q: method %q and host %q, net/http has %q and %q", text, q.Method, q.Host, theirs.Method, theirs.Host)
		}
		if chunked := len(theirs.TransferEncoding) > 0; chunked != q.Chunked || !chunked && max(q.Length, 0) != theirs.ContentLength {
			t.Fatalf("%q: chunked %v and length %d, net/http has %v and %d", text, q.Chunked, q.Length, theirs.TransferEncoding, theirs.ContentLength)
		}
		fields := 0
		for _, field := range q.Fields {
			switch field.Kind {
			case Host, ContentLength, TransferEncoding:
			default:
				fields++
			}
		}
		n := 0
		for name, values := range theirs.Header {
			if name != "Content-Length" {
				n += len(values)
			}
		}
		if fields != n && theirs.Trailer == nil {
			t.Fatalf("%q: %d fields, net/http has %d: %v", text, fields, n, theirs.Header)
		}
		if !q.Chunked {
			return
		}
		follow := q.Body()
		used, err := follow.Advance(text[end:])
		if err != nil || !follow.Done() {
			return
		}
		rest := bufio.NewReader(bytes.NewReader(text[:end+used]))
		again, err := http.ReadRequest(rest)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, again.Body); err != nil {
			return // stricter again
		}
		if left := rest.Buffered(); left != 0 {
			t.Fatalf("%q: the body ends %d bytes later than net/http has it", text, left)
		}
	})
}

// An answer never makes the parser fail in another way than by saying so, and
// what is passed on ends where the parser says.
func FuzzAnswers(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"HTTP/1.0 200\nX: y\n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		end := EndOfHead(text, 0)
		if end == 0 {
			return
		}
		var a Response
		if a.Parse(text[:end]) != nil {
			return
		}
		theirs, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(text)), nil)
		if err != nil {
			return
		}
		if theirs.StatusCode != a.Status {
			t.Fatalf("%q: status %d, net/http has %d", text, a.Status, theirs.StatusCode)
		}
		if a.Status >= 200 && a.Status != 204 && a.Status != 304 && !a.Chunked && a.Length != theirs.ContentLength {
			t.Fatalf("%q: length %d, net/http has %d", text, a.Length, theirs.ContentLength)
		}
	})
}

func FuzzPaths(f *testing.F) {
	for _, s := range []string{"/", "/a/../b", "/%2e%2e/x", "/a%2Fb/./c", "//x", "/..", "/%%370", "/%2525?%", "/.%2E/a/.%2e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" || s[0] != '/' || !all([]byte(s), isTarget) || !hasValidEscapes([]byte(s)) {
			return
		}
		path, _ := SplitTarget([]byte(s))
		if path == "" || path[0] != '/' {
			t.Fatalf("%q became %q", s, path)
		}
		again, _ := SplitTarget([]byte(path))
		if strings.Contains(path+"/", "/../") || strings.Contains(path+"/", "/./") {
			t.Fatalf("%q became %q, which leads upwards", s, path)
		}
		if !strings.ContainsRune(path, '?') && again != path && !strings.Contains(s, "%25") {
			t.Fatalf("%q became %q, which becomes %q", s, path, again)
		}
	})
}
