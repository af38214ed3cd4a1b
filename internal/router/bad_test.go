// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/wait"
)

func prefixes(t *testing.T, texts ...string) (all []netip.Prefix) {
	t.Helper()
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// toleratedByNetHTTP lists the requests that the engine "standard" treats
// differently, with the status of its response. Instances never receive them
// unchanged, because net/http writes each request anew.
var toleratedByNetHTTP = map[string]int{
	"the same length twice":        200, // sent once
	"both framings":                200, // the length is dropped
	"HTTP/1.0 in chunks":           200, // as a request without a body, and the connection ends
	"a line feed alone":            200, // as the end of a line
	"line feeds at the end":        200,
	"a folded line":                200, // sent as one line
	"many names in connection":     200,
	"a lower-case version":         400, // instead of 505
	"a space after a chunk's size": 200,
	"a long extension of a chunk":  200, // extensions are dropped
	"a length after the body":      200, // trailers are dropped
	"an encoding after the body":   200,
	"an origin after the body":     200,
}

// The router rejects requests that two parsers could read differently, and reads
// no request after them.
func TestWhatCouldBeSmuggledIsRefused(t *testing.T) {
	onEachEngine(t, testWhatCouldBeSmuggledIsRefused)
}

func testWhatCouldBeSmuggledIsRefused(t *testing.T, on engine) {
	timeout := 5 * time.Second
	if on == standard {
		timeout = time.Second // net/http waits for more than HTTP/0.9 has
	}
	r := on.start(t, Config{HeaderTimeout: timeout})
	var reached atomic.Int32
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		if q.TransferEncoding == nil {
			reached.Add(1)
		}
		io.Copy(io.Discard, q.Body)
	}), route())
	const host = "Host: x\r\n"
	for what, c := range map[string]struct {
		text string
		want int
	}{
		"both framings":                 {"POST / HTTP/1.1\r\n" + host + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		"two lengths":                   {"POST / HTTP/1.1\r\n" + host + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd", 400},
		"the same length twice":         {"POST / HTTP/1.1\r\n" + host + "Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd", 400},
		"a list of lengths":             {"POST / HTTP/1.1\r\n" + host + "Content-Length: 4, 4\r\n\r\nabcd", 400},
		"a signed length":               {"POST / HTTP/1.1\r\n" + host + "Content-Length: +4\r\n\r\nabcd", 400},
		"a negative length":             {"POST / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n", 400},
		"a huge length":                 {"POST / HTTP/1.1\r\n" + host + "Content-Length: 9999999999999999999\r\n\r\n", 400},
		"an unknown encoding":           {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: xchunked\r\n\r\n", 501},
		"encodings in a list":           {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
		"two encodings":                 {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", 501},
		"a tab before chunked is fine":  {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n", 200},
		"a vertical tab is not":         {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding:\vchunked\r\n\r\n", 400},
		"space before the colon":        {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding : chunked\r\n\r\n", 400},
		"a folded line":                 {"GET / HTTP/1.1\r\n" + host + "X: a\r\n b\r\n\r\n", 400},
		"a line feed alone":             {"GET / HTTP/1.1\r\n" + host + "X: a\nY: b\r\n\r\n", 400},
		"line feeds at the end":         {"GET / HTTP/1.1\r\n" + host + "X: a\n\nGET /two HTTP/1.1\r\n\r\n", 400},
		"a carriage return alone":       {"GET / HTTP/1.1\r\n" + host + "X: a\rY: b\r\n\r\n", 400},
		"a null byte":                   {"GET / HTTP/1.1\r\n" + host + "X: a\x00b\r\n\r\n", 400},
		"a field without name":          {"GET / HTTP/1.1\r\n" + host + ": a\r\n\r\n", 400},
		"a field without colon":         {"GET / HTTP/1.1\r\n" + host + "X\r\n\r\n", 400},
		"no host":                       {"GET / HTTP/1.1\r\n\r\n", 400},
		"two hosts":                     {"GET / HTTP/1.1\r\n" + host + host + "\r\n", 400},
		"a host with a path":            {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
		"a host with a user":            {"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", 400},
		"HTTP/1.0 in chunks":            {"POST / HTTP/1.0\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		"HTTP/0.9":                      {"GET /\r\n\r\n", 400},
		"HTTP/3":                        {"GET / HTTP/3.0\r\n" + host + "\r\n", 505},
		"two spaces":                    {"GET  / HTTP/1.1\r\n" + host + "\r\n", 400},
		"a space in the target":         {"GET /a b HTTP/1.1\r\n" + host + "\r\n", 400},
		"a fragment":                    {"GET /a#b HTTP/1.1\r\n" + host + "\r\n", 400},
		"a percent alone":               {"GET /%%361dmin HTTP/1.1\r\n" + host + "\r\n", 400},
		"a percent at the end":          {"GET http://x/a%2 HTTP/1.1\r\n" + host + "\r\n", 400},
		"one in the query is fine":      {"GET /?100% HTTP/1.1\r\n" + host + "\r\n", 200},
		"no slash":                      {"GET a HTTP/1.1\r\n" + host + "\r\n", 400},
		"another scheme":                {"GET ftp://x/ HTTP/1.1\r\n" + host + "\r\n", 400},
		"absolute form is fine":         {"GET http://y/ HTTP/1.1\r\n" + host + "\r\n", 200},
		"CONNECT":                       {"CONNECT x:80 HTTP/1.1\r\n" + host + "\r\n", 405},
		"an expectation":                {"GET / HTTP/1.1\r\n" + host + "Expect: wonders\r\n\r\n", 417},
		"a bad method":                  {"G(T / HTTP/1.1\r\n" + host + "\r\n", 400},
		"a huge head":                   {"GET / HTTP/1.1\r\n" + host + "X: " + strings.Repeat("a", 40<<10) + "\r\n\r\n", 431},
		"a chunk of no size":            {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n\r\n\r\n", 400},
		"a chunk's size with 0x":        {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n", 400},
		"a chunk's size that overflows": {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n10000000000000001\r\na\r\n0\r\n\r\n", 400},
		"a line feed after a size":      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n", 400},
		"a line feed in an extension":   {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n1;x\na\r\n0\r\n\r\n", 400},
		"a chunk that is too long":      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", 400},
		"a length after the body":       {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n", 400},
		"an encoding after the body":    {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\nTransfer_Encoding: chunked\r\n\r\n", 400},
		"an origin after the body":      {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n", 400},
		"a space after a chunk's size":  {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n1 \r\na\r\n0\r\n\r\n", 400},
		"a long extension of a chunk":   {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n1;" + strings.Repeat("x", 300) + "\r\na\r\n0\r\n\r\n", 400},
		"endless trailers":              {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("A: b\r\n", 2000) + "\r\n", 400},
		"an empty encoding":             {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: \r\n\r\n", 501},
		"many names in connection":      {"GET / HTTP/1.1\r\n" + host + "Connection: " + strings.Repeat("a,", 100) + "b\r\n\r\n", 400},
		"a folded first line":           {"GET / HTTP/1.1\r\n " + host + "\r\n", 400},
		"a host in the target and two":  {"GET http://y/ HTTP/1.1\r\n" + host + "Host: z\r\n\r\n", 400},
		"a target with a user":          {"GET http://a@y/ HTTP/1.1\r\n" + host + "\r\n", 400},
		"a lower-case version":          {"GET / http/1.1\r\n" + host + "\r\n", 505},
		"HTTP/2 that comes second":      {"GET / HTTP/1.1\r\n" + host + "Content-Length: x\r\n\r\nPRI * HTTP/2.0\r\n\r\n", 400},
		"an invalid trailer":            {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\nno trailer\r\n\r\n", 400},
	} {
		if want, ok := toleratedByNetHTTP[what]; ok && on == standard {
			c.want = want
		}
		t.Run(what, func(t *testing.T) {
			before := reached.Load()
			l := r.dial()
			l.t = t
			l.send("%s", c.text)
			a := l.read("POST")
			if a.status != c.want {
				t.Fatalf("%q: %d %q, want %d", c.text, a.status, a.body, c.want)
			}
			if c.want == 200 {
				return
			}
			if !a.close {
				t.Errorf("the answer does not announce the connection's end: %v", a.header)
			}
			if on == standard { // net/http refuses most of them itself, and may reset the connection
				io.Copy(io.Discard, l.r)
			} else {
				if !strings.Contains(a.body, "request id: ") {
					t.Errorf("the answer %q has no request id", a.body)
				}
				l.ends()
			}
			if reached.Load() != before {
				t.Errorf("the request got through to the instance")
			}
		})
	}
	if s := r.Status(); on == fast && s.Refused < 30 {
		t.Errorf("only %d requests are counted as refused", s.Refused)
	}
}

func TestASlowHeadAndASlowBodyAreGivenUp(t *testing.T) {
	onEachEngine(t, testASlowHeadAndASlowBodyAreGivenUp)
}

func testASlowHeadAndASlowBodyAreGivenUp(t *testing.T, on engine) {
	r := on.start(t, Config{HeaderTimeout: 50 * time.Millisecond, BodyTimeout: 100 * time.Millisecond})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) { io.Copy(io.Discard, q.Body) }), route())
	for what, text := range map[string]string{
		"head":         "GET / HTTP/1.1\r\nHost:",
		"small body":   "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc",
		"large body":   "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc",
		"chunked body": "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
	} {
		l := r.dial()
		l.send("%s", text)
		if what == "head" && on == standard {
			l.ends() // net/http closes the connection without a response
			continue
		}
		if a := l.read("POST"); a.status != 408 {
			t.Errorf("%s: %d %q, want 408", what, a.status, a.body)
		}
		l.ends()
	}
}

func TestALargeBodyIsRefused(t *testing.T) { onEachEngine(t, testALargeBodyIsRefused) }

func testALargeBodyIsRefused(t *testing.T, on engine) {
	r := on.start(t, Config{MaxBody: 100 << 10})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		n, _ := io.Copy(io.Discard, q.Body)
		fmt.Fprint(w, n)
	}), route())
	at := strings.Repeat("a", 100<<10)
	if a := r.do("POST", "x/", strings.NewReader(at)); a.status != 200 || a.body != "102400" {
		t.Errorf("a body at the bound: %d %q", a.status, a.body)
	}
	if a := r.do("POST", "x/", strings.NewReader(at+"a")); a.status != 413 || !strings.Contains(a.body, "larger than the router lets through, which is 102400 bytes") {
		t.Errorf("a body above it: %d %q", a.status, a.body)
	}
	l := r.dial()
	l.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n20000\r\n%s", strings.Repeat("a", 0x20000))
	if a := l.read("POST"); a.status != 413 {
		t.Errorf("a body above it in chunks: %d %q", a.status, a.body)
	}
}

func TestAnAnswerThatDoesNotComeInTime(t *testing.T) {
	onEachEngine(t, testAnAnswerThatDoesNotComeInTime)
}

func testAnAnswerThatDoesNotComeInTime(t *testing.T, on engine) {
	r := on.start(t, Config{ResponseTimeout: time.Minute})
	hold := make(chan struct{})
	defer close(hold)
	slow := serve(t, func(http.ResponseWriter, *http.Request) { <-hold })
	timed := route()
	timed.Timeout = 50 * time.Millisecond
	r.add("one", slow, timed)
	if code, body := r.get("x/"); code != 504 || !strings.Contains(body, "gave no answer: it did not answer in time") {
		t.Errorf("%d %q", code, body)
	}
}

func TestAClientThatLeavesEndsItsRequest(t *testing.T) {
	onEachEngine(t, testAClientThatLeavesEndsItsRequest)
}

func testAClientThatLeavesEndsItsRequest(t *testing.T, on engine) {
	r := on.start(t, Config{})
	began, left := make(chan struct{}), make(chan struct{})
	r.add("one", serve(t, func(_ http.ResponseWriter, q *http.Request) {
		close(began)
		<-q.Context().Done()
		close(left)
	}), route())
	l := r.dial()
	l.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-began
	l.Close()
	select {
	case <-left:
	case <-wait.Limit(t, deadline):
		t.Fatal("the instance still works for a client that is gone")
	}
}
