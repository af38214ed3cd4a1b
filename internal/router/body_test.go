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
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBodiesOfAllSizesGoBothWays(t *testing.T) { onEachEngine(t, testBodiesOfAllSizesGoBothWays) }

func testBodiesOfAllSizesGoBothWays(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		text, err := io.ReadAll(q.Body)
		if err != nil {
			w.WriteHeader(500)
			return
		}
		if q.URL.Path == "/length" {
			w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		}
		w.Write(text)
	}), route())
	client := &http.Client{Transport: &http.Transport{}, Timeout: deadline}
	defer client.CloseIdleConnections()
	for _, size := range []int{0, 1, 100, 2047, 4096, 10_000, 32 << 10, 64<<10 - 1, 64 << 10, 64<<10 + 1, 300_000, 5 << 20} {
		text := bytes.Repeat([]byte("0123456789"), size/10+1)[:size]
		for _, path := range []string{"/length", "/chunked"} {
			for what, body := range map[string]io.Reader{"length": bytes.NewReader(text), "chunked": struct{ io.Reader }{bytes.NewReader(text)}} {
				resp, err := client.Post("http://"+r.Addr()+path, "text/plain", body)
				if err != nil {
					t.Fatalf("%s of %d bytes to %s: %v", what, size, path, err)
				}
				got, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != 200 || !bytes.Equal(got, text) {
					t.Errorf("%s of %d bytes to %s: %d, %d bytes, %v", what, size, path, resp.StatusCode, len(got), err)
				}
			}
		}
	}
	eventually(t, "all bytes are counted", func() bool {
		s := r.Status().Routes[0]
		return s.BytesOut >= 4*(5<<20) && s.BytesIn >= 4*(5<<20)
	})
}

func TestManyRequestsOnOneConnection(t *testing.T) { onEachEngine(t, testManyRequestsOnOneConnection) }

func testManyRequestsOnOneConnection(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		text, _ := io.ReadAll(q.Body)
		fmt.Fprintf(w, "%s %s %s", q.Method, q.URL.Path, text)
	}), route())
	l := r.dial()
	l.send("%s", "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"+
		"POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"+
		"POST /3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;note=x\r\ndef\r\n0\r\nAfter: all\r\n\r\n"+
		"HEAD /4 HTTP/1.1\r\nHost: x\r\n\r\n"+
		map[engine]string{fast: "\r\n"}[on]+ // net/http refuses an empty line before a request
		"PUT /5 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"+
		"GET /6 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"+
		"GET /never HTTP/1.1\r\nHost: x\r\n\r\n")
	var got []string
	for _, method := range []string{"GET", "POST", "POST", "HEAD", "PUT", "GET"} {
		got = append(got, l.read(method).body)
	}
	if diff := cmp.Diff([]string{"GET /1 ", "POST /2 abc", "POST /3 def", "", "PUT /5 ", "GET /6 "}, got); diff != "" {
		t.Errorf("pipelined (-want +got):\n%s", diff)
	}
	l.ends()
}

func TestHTTP10(t *testing.T) { onEachEngine(t, testHTTP10) }

func testHTTP10(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		io.WriteString(w, "hello ")
		w.(http.Flusher).Flush()
		io.WriteString(w, q.Proto)
	}), route())
	l := r.dial()
	l.send("GET / HTTP/1.0\r\n\r\n")
	want := "hello HTTP/1.0"
	if on == standard {
		want = "hello HTTP/1.1" // net/http's transport always speaks HTTP/1.1
	}
	if a := l.read("GET"); a.status != 200 || a.body != want {
		t.Errorf("%d %q", a.status, a.body)
	}
	l.ends()
}

func TestAnInterimAnswerAndTrailersArePassedOn(t *testing.T) {
	onEachEngine(t, testAnInterimAnswerAndTrailersArePassedOn)
}

func testAnInterimAnswerAndTrailersArePassedOn(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Link", "</style.css>")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Trailer", "Sum")
		text, _ := io.ReadAll(q.Body) // says 100 Continue
		w.Write(text)
		w.Header().Set("Sum", "42")
	}), route())
	l := r.dial()
	l.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
	for _, want := range []int{103, 100} {
		resp, err := http.ReadResponse(l.r, nil)
		if err != nil || resp.StatusCode != want {
			t.Fatalf("%v %v, want %d", resp, err, want)
		}
	}
	l.send("body")
	resp, err := http.ReadResponse(l.r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if on == standard && resp.StatusCode == http.StatusContinue { // it may pass on the instance's 100 after its own
		if resp, err = http.ReadResponse(l.r, nil); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || string(text) != "body" || resp.Trailer.Get("Sum") != "42" {
		t.Errorf("%q, trailers %v, %v", text, resp.Trailer, err)
	}
	l.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	resp, err = http.ReadResponse(l.r, nil)
	if err != nil || resp.StatusCode != 103 {
		t.Fatalf("after it: %v %v", resp, err)
	}
	if a := l.read("GET"); a.status != 200 {
		t.Errorf("after it: %d %q", a.status, a.body)
	}
}

func TestAnAnswerBeforeTheRequestsEnd(t *testing.T) {
	onEachEngine(t, testAnAnswerBeforeTheRequestsEnd)
}

func testAnAnswerBeforeTheRequestsEnd(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, "no")
	}), route())
	l := r.dial()
	l.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\nabc")
	if a := l.read("POST"); a.status != 403 || a.body != "no" || !a.close {
		t.Errorf("%d %q, which announces the connection's end: %v", a.status, a.body, a.close)
	}
	l.ends()
}

// answers starts an instance that responds to everything with the same bytes, and
// then closes the connection if closes is true.
func answers(t *testing.T, text string, closes bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				room := make([]byte, 4096)
				for {
					if _, err := nc.Read(room); err != nil {
						return
					}
					io.WriteString(nc, text)
					if closes {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

func TestAnswersOfAllKinds(t *testing.T) { onEachEngine(t, testAnswersOfAllKinds) }

func testAnswersOfAllKinds(t *testing.T, on engine) {
	r := on.start(t, Config{})
	for name, c := range map[string]struct {
		text   string
		closes bool
		status int
		body   string
	}{
		"until-close":    {"HTTP/1.1 200 OK\r\nX: 1\r\n\r\nall of it", true, 200, "all of it"},
		"old":            {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", true, 200, "ok"},
		"line-feeds":     {"HTTP/1.0 200 OK\nX: 1\n\nplain", true, 200, "plain"},
		"no-content":     {"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", false, 204, ""},
		"no-reason":      {"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", false, 200, "ok"},
		"not-modified":   {"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", false, 304, ""},
		"both-framings":  {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false, 200, "ok"},
		"twice-the-same": {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", false, 200, "ok"},
		"more-than-said": {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison", false, 200, "ok"},
		"two-lengths":    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!", false, 502, ""},
		"not-http":       {"SSH-2.0-OpenSSH_9.2\r\n\r\n", false, 502, ""},
		"bad-status":     {"HTTP/1.1 999 What\r\n\r\n", false, 502, ""},
		"huge-head":      {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", 40<<10) + "\r\n\r\n", false, 502, ""},
		"unasked-change": {"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", false, 502, ""},
		"cut-head":       {"HTTP/1.1 200 OK\r\nX: 1\r\n", true, 502, ""},
	} {
		r.add(name, answers(t, c.text, c.closes), route(host(name)))
		for range 2 {
			a := r.do("GET", name+"/", nil)
			if a.status != c.status || c.status != 502 && a.body != c.body {
				t.Errorf("%s: %d %q, want %d %q", name, a.status, a.body, c.status, c.body)
			}
		}
	}
}

func TestAnAnswerThatIsCutShortIsSeenToBe(t *testing.T) {
	onEachEngine(t, testAnAnswerThatIsCutShortIsSeenToBe)
}

func testAnAnswerThatIsCutShortIsSeenToBe(t *testing.T, on engine) {
	r := on.start(t, Config{})
	for name, text := range map[string]string{
		"length":  "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
		"chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
		"broken":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nno size\r\n",
	} {
		r.add(name, answers(t, text, true), route(host(name)))
		l := r.dial()
		l.send("GET / HTTP/1.1\r\nHost: %s\r\n\r\n", name)
		resp, err := http.ReadResponse(l.r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(resp.Body); err == nil && resp.StatusCode != 502 {
			t.Errorf("%s: %q was taken for the whole answer", name, got)
		}
	}
}
