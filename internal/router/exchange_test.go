// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Both protocols have the same retries with both engines.
func TestBothProtocolsRepeatARequestWithASmallBody(t *testing.T) {
	onEachEngine(t, testBothProtocolsRepeatARequestWithASmallBody)
}

func testBothProtocolsRepeatARequestWithASmallBody(t *testing.T, on engine) {
	for what, client := range clients(t) {
		r := on.start(t, Config{})
		var dropped atomic.Int32
		r.add("bad", serve(t, func(w http.ResponseWriter, q *http.Request) {
			io.Copy(io.Discard, q.Body)
			dropped.Add(1)
			panic(http.ErrAbortHandler)
		}), route(weight(1000)))
		r.add("good", serve(t, func(w http.ResponseWriter, q *http.Request) {
			text, _ := io.ReadAll(q.Body)
			w.Write(text)
		}), route(weight(1)))
		for _, c := range []struct {
			method string
			size   int
			want   int
		}{{"PUT", 10, 200}, {"PUT", inMemory, 200}, {"PUT", inMemory + 1, 502}, {"POST", 10, 502}} {
			before := dropped.Load()
			q, _ := http.NewRequest(c.method, "http://"+r.Addr()+"/", strings.NewReader(strings.Repeat("a", c.size)))
			resp, err := client.Do(q)
			if err != nil {
				t.Fatalf("%s, %s: %v", what, c.method, err)
			}
			text, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != c.want || c.want == 200 && len(text) != c.size {
				t.Errorf("%s, %s of %d bytes: status %d with %d bytes, want %d", what, c.method, c.size, resp.StatusCode, len(text), c.want)
			}
			if dropped.Load() == before {
				t.Errorf("%s, %s of %d bytes: the bad instance did not receive it", what, c.method, c.size)
			}
		}
	}
}

// The client receives a response without a guessed content type and without a date
// of the router.
func TestTheRouterAddsNoFieldsToAResponse(t *testing.T) {
	onEachEngine(t, testTheRouterAddsNoFieldsToAResponse)
}

func testTheRouterAddsNoFieldsToAResponse(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("one", answers(t, "HTTP/1.1 200 OK\r\nX-Mine: 1\r\nContent-Length: 14\r\n\r\n<script>hello", false), route())
	for what, client := range clients(t) {
		resp := r.ask(client, "x/")
		if diff := cmp.Diff(http.Header{"X-Mine": {"1"}, "Content-Length": {"14"}}, resp.Header); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		resp.Body.Close()
	}
}

func TestInvalidResponsesAreRefusedToBothProtocols(t *testing.T) {
	onEachEngine(t, testInvalidResponsesAreRefusedToBothProtocols)
}

func testInvalidResponsesAreRefusedToBothProtocols(t *testing.T, on engine) {
	r := on.start(t, Config{MaxHeader: 16 << 10})
	for name, text := range map[string]string{
		"large-head": "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", 32<<10) + "\r\nContent-Length: 0\r\n\r\n",
		"status":     "HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n",
		"protocol":   "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
	} {
		r.add(name, answers(t, text, false), route(host(name)))
		for what, client := range clients(t) {
			if resp := r.ask(client, name+"/"); resp.StatusCode != http.StatusBadGateway {
				t.Errorf("%s, %s: status %d, want 502", what, name, resp.StatusCode)
			}
		}
	}
}

// OPTIONS * asks the instance, not the router.
func TestAnInstanceRespondsToOptionsOfAWholeServer(t *testing.T) {
	onEachEngine(t, testAnInstanceRespondsToOptionsOfAWholeServer)
}

func testAnInstanceRespondsToOptionsOfAWholeServer(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("one", answers(t, "HTTP/1.1 200 OK\r\nAllow: MINE\r\nContent-Length: 0\r\n\r\n", false), route())
	l := r.dial()
	l.send("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
	if a := l.read("OPTIONS"); a.header.Get("Allow") != "MINE" {
		t.Errorf("HTTP/1.1: %d %v", a.status, a.header)
	}
	q, _ := http.NewRequest("OPTIONS", "http://"+r.Addr(), nil)
	q.URL.Opaque = "*"
	resp, err := h2c(t).Do(q)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.Header.Get("Allow") != "MINE" {
		t.Errorf("HTTP/2: %d %v", resp.StatusCode, resp.Header)
	}
}

// HTTP/1.0 has no interim responses.
func TestAnHTTP10ClientReceivesNoInterimResponse(t *testing.T) {
	onEachEngine(t, testAnHTTP10ClientReceivesNoInterimResponse)
}

func testAnHTTP10ClientReceivesNoInterimResponse(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("one", answers(t, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false), route())
	l := r.dial()
	l.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
	if a := l.read("GET"); a.status != 200 || a.body != "ok" || a.header.Get("Link") != "" {
		t.Errorf("%d %q %v", a.status, a.body, a.header)
	}
	l.send("GET / HTTP/1.0\r\n\r\n") // the connection was kept
	if a := l.read("GET"); a.status != 200 || a.body != "ok" {
		t.Errorf("%d %q", a.status, a.body)
	}
	l.ends()
}

// The router does not mistake the rest of a request, which the instance did not
// read, for another request.
func TestTheRestOfARequestIsNotARequest(t *testing.T) {
	onEachEngine(t, testTheRestOfARequestIsNotARequest)
}

func testTheRestOfARequestIsNotARequest(t *testing.T, on engine) {
	r := on.start(t, Config{})
	var paths atomic.Value
	paths.Store("")
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		paths.Store(paths.Load().(string) + q.URL.Path)
		w.Header().Set("Connection", "close")
		fmt.Fprint(w, "early")
		http.NewResponseController(w).Flush()
	}), route())
	smuggled := "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
	l := r.dial()
	l.send("POST /first HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
	if a := l.read("POST"); a.body != "early" || !a.close {
		t.Errorf("%q, announces the end of the connection: %v", a.body, a.close)
	}
	io.WriteString(l.Conn, smuggled)
	io.Copy(io.Discard, l.r)
	if got := paths.Load(); got != "/first" {
		t.Errorf("the instance received %q, want /first alone", got)
	}
}

func TestTheStatusNamesTheEngine(t *testing.T) {
	onEachEngine(t, func(t *testing.T, on engine) {
		if got := on.start(t, Config{}).Status().Engine; got != string(on) {
			t.Errorf("engine %q, want %q", got, on)
		}
	})
	if got := (Config{}).withDefaults().Engine; got != EngineFast {
		t.Errorf("by default the engine is %q, want %q", got, EngineFast)
	}
}

// The page about the router lists these differences.
func TestTheEnginesWriteRequestsDifferently(t *testing.T) {
	onEachEngine(t, func(t *testing.T, on engine) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		received := make(chan string, 1)
		go func() {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			defer nc.Close()
			var text []byte
			for room := make([]byte, 4096); !bytes.Contains(text, []byte("\r\n0\r\n")) || !bytes.HasSuffix(text, []byte("\r\n\r\n")); {
				n, err := nc.Read(room)
				if err != nil {
					break
				}
				text = append(text, room[:n]...)
			}
			received <- string(text)
			io.WriteString(nc, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}()
		r := on.start(t, Config{})
		r.add("one", l.Addr().String(), route())
		c := r.dial()
		c.send("POST /a^b HTTP/1.1\r\nHost: x\r\nx-lower: 1\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n1;extension\r\na\r\n0\r\nX-Sum: 1\r\n\r\n")
		c.read("POST")
		got := <-received
		for part, want := range map[string]bool{
			"POST /a^b HTTP": on == fast, "POST /a%5Eb HTTP": on == standard,
			"\r\nx-lower: 1": on == fast, "\r\nX-Lower: 1": on == standard,
			"1;extension\r\n": on == fast, "X-Sum: 1": on == fast,
		} {
			if strings.Contains(got, part) != want {
				t.Errorf("the instance received\n%s\nwhich contains %q: %v, want %v", got, part, !want, want)
			}
		}
	})
}
