// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import (
	"net/http"
	"strings"
	"testing"
)

// net/http accepts each request that this package accepts, with the same method,
// target, host, fields and body, and the same end. It also reads the same from
// the request that the proxy forwards.
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
	for _, e := range requests() {
		if len(e.text) < 1000 {
			f.Add([]byte(e.text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		ours, err := readRequest(text)
		if err != nil {
			return
		}
		theirs, err := readRequestByNetHTTP(text)
		if err != nil {
			t.Fatalf("%q: accepted, but net/http rejects it: %v", text, err)
		}
		if d := difference(ours, theirs); d != "" {
			t.Fatalf("%q: (-ours +net/http)\n%s", text, d)
		}
		if problem := rewritten(text, ours); problem != "" {
			t.Fatalf("%q: %s", text, problem)
		}
	})
}

// net/http accepts each response that this package accepts, with the same status,
// fields and body, and the same end.
func FuzzAnswers(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"HTTP/1.0 200\nX: y\n\n",
	} {
		f.Add([]byte(s), true)
	}
	for _, e := range responses() {
		if len(e.text) < 1000 {
			f.Add([]byte(e.text), false)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, head bool) {
		method := http.MethodGet
		if head {
			method = http.MethodHead
		}
		ours, err := readResponse(text, method)
		if err != nil {
			return
		}
		theirs, err := readResponseByNetHTTP(text, method)
		if err != nil {
			t.Fatalf("%q: accepted, but net/http rejects it: %v", text, err)
		}
		if d := difference(ours, theirs); d != "" {
			t.Fatalf("%q: (-ours +net/http)\n%s", text, d)
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
