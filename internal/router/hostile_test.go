// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// The time limit of a response counts from the end of the request: an upload may
// take longer than the limit.
func TestAnUploadMayTakeLongerThanAnAnswer(t *testing.T) {
	onEachEngine(t, testAnUploadMayTakeLongerThanAnAnswer)
}

func testAnUploadMayTakeLongerThanAnAnswer(t *testing.T, on engine) {
	const limit = 100 * time.Millisecond
	r := on.start(t, Config{ResponseTimeout: limit})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		n, err := io.Copy(io.Discard, q.Body)
		fmt.Fprint(w, n, err)
	}), route())
	for what, client := range map[string]*http.Client{"HTTP/1.1": oneShot, "HTTP/2": h2c(t)} {
		body, w := io.Pipe()
		go func() {
			defer w.Close()
			for range 5 {
				w.Write(make([]byte, 1000))
				wait.Pass(t.Context(), limit/2)
			}
		}()
		resp, err := client.Post("http://"+r.Addr()+"/", "", body)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 200 || string(text) != "5000 <nil>" {
			t.Errorf("%s: %d %q", what, resp.StatusCode, text)
		}
	}
}

// The time limit of a response also applies to requests with a streamed body.
func TestAnAnswerToALargeBodyThatDoesNotComeInTime(t *testing.T) {
	onEachEngine(t, testAnAnswerToALargeBodyThatDoesNotComeInTime)
}

func testAnAnswerToALargeBodyThatDoesNotComeInTime(t *testing.T, on engine) {
	r := on.start(t, Config{ResponseTimeout: 50 * time.Millisecond})
	hold := make(chan struct{})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		io.Copy(io.Discard, q.Body)
		<-hold
	}), route())
	defer close(hold)
	for what, client := range map[string]*http.Client{"HTTP/1.1": oneShot, "HTTP/2": h2c(t)} {
		resp, err := client.Post("http://"+r.Addr()+"/", "", bytes.NewReader(make([]byte, 1<<20)))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		resp.Body.Close()
		if resp.StatusCode != 504 {
			t.Errorf("%s: %d, want 504", what, resp.StatusCode)
		}
	}
}

// Bytes that an instance sends after a response must not become the response to
// another client's request: attackers smuggle responses that way.
func TestWhatFollowsAnAnswerIsNobodysAnswer(t *testing.T) {
	onEachEngine(t, testWhatFollowsAnAnswerIsNobodysAnswer)
}

func testWhatFollowsAnAnswerIsNobodysAnswer(t *testing.T, on engine) {
	r := on.start(t, Config{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	late, sent := make(chan struct{}), make(chan struct{})
	go func() {
		for n := 0; ; n++ {
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
					if n == 0 {
						// An answer to HEAD whose body comes all the same.
						io.WriteString(nc, "HTTP/1.1 200 OK\r\nContent-Length: 43\r\n\r\n")
						<-late
						io.WriteString(nc, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")
						close(sent)
					} else {
						io.WriteString(nc, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
					}
				}
			}()
		}
	}()
	r.add("one", l.Addr().String(), route())
	if a := r.do("HEAD", "x/", nil); a.status != 200 {
		t.Fatalf("HEAD: %d", a.status)
	}
	close(late)
	<-sent
	if a := r.do("GET", "x/", nil); a.status != 200 || a.body != "ok" {
		t.Errorf("the next request is answered by %d %q", a.status, a.body)
	}
}

// After an upgrade to HTTP/2, requests would bypass the router's routes.
func TestHTTP2IsNotToBeHadByUpgrade(t *testing.T) { onEachEngine(t, testHTTP2IsNotToBeHadByUpgrade) }

func testHTTP2IsNotToBeHadByUpgrade(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		fmt.Fprintf(w, "upgrade %q, connection %q, settings %q", q.Header.Get("Upgrade"), q.Header.Get("Connection"), q.Header.Get("Http2-Settings"))
	}), route())
	for _, protocol := range []string{"h2c", "H2C", "websocket, h2c"} {
		l := r.dial()
		l.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: %s\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n", protocol)
		if a := l.read("GET"); a.body != `upgrade "", connection "", settings ""` {
			t.Errorf("%s: the instance sees %s", protocol, a.body)
		}
	}
}

// The router does not forward fields that programs mistake for others: those with
// underscores instead of dashes, and Proxy, which CGI turns into HTTP_PROXY.
func TestFieldsInDisguiseAreNotPassedOn(t *testing.T) {
	onEachEngine(t, testFieldsInDisguiseAreNotPassedOn)
}

func testFieldsInDisguiseAreNotPassedOn(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		for _, name := range []string{"X_forwarded_for", "Content_length", "Proxy", "My_field"} {
			if v := q.Header.Get(name); v != "" {
				fmt.Fprintf(w, "%s: %s\n", name, v)
			}
		}
	}), route())
	l := r.dial()
	l.send("GET / HTTP/1.1\r\nHost: x\r\nX_Forwarded_For: 6.6.6.6\r\nContent_Length: 5\r\nProxy: http://evil\r\nMy_Field: mine\r\n\r\n")
	if diff := cmp.Diff("My_field: mine\n", l.read("GET").body); diff != "" {
		t.Errorf("HTTP/1.1 (-want +got):\n%s", diff)
	}
	q, _ := http.NewRequest("GET", "http://"+r.Addr(), nil)
	q.Header = http.Header{"X_forwarded_for": {"6.6.6.6"}, "Content_length": {"5"}, "Proxy": {"http://evil"}, "My_field": {"mine"}}
	resp, err := h2c(t).Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if diff := cmp.Diff("My_field: mine\n", string(text)); diff != "" {
		t.Errorf("HTTP/2 (-want +got):\n%s", diff)
	}
}

// HTTP/2 can carry requests that HTTP/1.1, which the instance speaks, would read
// differently.
func TestHTTP2RequestsThatHTTP11CannotCarryAreRefused(t *testing.T) {
	for what, c := range map[string]struct {
		method, host, target string
		want                 int
	}{
		"plain":                  {"GET", "x:80", "/a?b=%20", 0},
		"all of a server":        {"OPTIONS", "x", "*", 0},
		"CONNECT":                {"CONNECT", "x:80", "x:80", 405},
		"a space in the query":   {"GET", "x", "/a?b HTTP/1.1", 400},
		"a percent alone":        {"GET", "x", "/%zz", 400},
		"a line in the path":     {"GET", "x", "/a\r\nX: y", 400},
		"a space in the method":  {"GET /b", "x", "/", 400},
		"no method":              {"G(T", "x", "/", 400},
		"a host with a path":     {"GET", "x/y", "/", 400},
		"a host with a user":     {"GET", "a@x", "/", 400},
		"a target without slash": {"GET", "x", "http://y/", 400},
		"a star that asks":       {"GET", "x", "*", 400},
	} {
		_, refused := targetOf(&http.Request{Method: c.method, Host: c.host, RequestURI: c.target, ProtoMajor: 2})
		if got := refused; (got == nil) != (c.want == 0) || got != nil && got.status != c.want {
			t.Errorf("%s: %+v, want status %d", what, got, c.want)
		}
	}
}

// The limits of the time and size of bodies apply to HTTP/2 as to HTTP/1.1.
func TestHTTP2BodiesThatAreLateOrTooLarge(t *testing.T) {
	onEachEngine(t, testHTTP2BodiesThatAreLateOrTooLarge)
}

func testHTTP2BodiesThatAreLateOrTooLarge(t *testing.T, on engine) {
	r := on.start(t, Config{BodyTimeout: 100 * time.Millisecond, MaxBody: 100 << 10})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) { io.Copy(io.Discard, q.Body) }), route())
	client := h2c(t)
	post := func(body io.Reader) (int, string) {
		t.Helper()
		resp, err := client.Post("http://"+r.Addr()+"/", "", body)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	body, w := io.Pipe()
	defer w.Close()
	go w.Write([]byte("the beginning"))
	if code, text := post(body); code != 408 {
		t.Errorf("a body that does not go on: %d %q, want 408", code, text)
	}
	if code, text := post(struct{ io.Reader }{bytes.NewReader(make([]byte, 200<<10))}); code != 413 {
		t.Errorf("a body that turns out to be too large: %d %q, want 413", code, text)
	}
	if n := r.Status().Routes[0].Instances[0].Failures; n != 0 {
		t.Errorf("the instance is blamed for %d failures", n)
	}
}

// A body without a length ends with its connection. A truncated one must not look
// complete.
func TestABodyWithoutLengthThatIsCutEndsInAReset(t *testing.T) {
	onEachEngine(t, testABodyWithoutLengthThatIsCutEndsInAReset)
}

func testABodyWithoutLengthThatIsCutEndsInAReset(t *testing.T, on engine) {
	version := "1.1"
	if on == standard {
		version = "1.0" // to HTTP/1.1, net/http sends such a body in chunks
	}
	r := on.start(t, Config{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cut := make(chan struct{})
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		nc.Read(make([]byte, 4096))
		io.WriteString(nc, "HTTP/1.1 200 OK\r\n\r\nhalf of")
		<-cut
		nc.(*net.TCPConn).SetLinger(0)
		nc.Close()
	}()
	r.add("one", l.Addr().String(), route())
	c := r.dial()
	c.send("GET / HTTP/%s\r\nHost: x\r\n\r\n", version)
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, 7)); err != nil {
		t.Fatal(err)
	}
	close(cut)
	if rest, err := io.ReadAll(resp.Body); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%q, %v, want a reset", rest, err)
	}
}

// The limit of a head does not depend on the request before it.
func TestALargeHeadBehindALargeBodyIsRefused(t *testing.T) {
	onEachEngine(t, testALargeHeadBehindALargeBodyIsRefused)
}

func testALargeHeadBehindALargeBodyIsRefused(t *testing.T, on engine) {
	size := 9 << 10
	if on == standard {
		size += 8 << 10 // net/http accepts 4 KiB more, and does not count what it buffered
	}
	r := on.start(t, Config{MaxHeader: 8 << 10})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) { io.Copy(io.Discard, q.Body) }), route())
	l := r.dial()
	l.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n%s"+
		"GET / HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n", strings.Repeat("a", 60000), strings.Repeat("b", size))
	if a := l.read("POST"); a.status != 200 {
		t.Fatalf("the first request: %d %q", a.status, a.body)
	}
	if a := l.read("GET"); a.status != 431 {
		t.Errorf("a head of %d bytes: %d %q", size, a.status, a.body)
	}
	l.ends()
}

// An upgrade that the instance rejects is a plain request: the router routes the
// requests after it as usual.
func TestAnUpgradeThatIsRefusedOpensNothing(t *testing.T) {
	onEachEngine(t, testAnUpgradeThatIsRefusedOpensNothing)
}

func testAnUpgradeThatIsRefusedOpensNothing(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Upgrade", "websocket")
		w.WriteHeader(http.StatusUpgradeRequired)
		io.WriteString(w, "one "+q.URL.Path)
	}), route(host("one.org")))
	r.add("two", says(t, "two"), route(host("two.org")))
	l := r.dial()
	l.send("GET /ws HTTP/1.1\r\nHost: one.org\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 1\r\n\r\n" +
		"GET /secret HTTP/1.1\r\nHost: two.org\r\n\r\n")
	if a := l.read("GET"); a.status != 426 || a.body != "one /ws" {
		t.Errorf("%d %q", a.status, a.body)
	}
	if a := l.read("GET"); a.status != 200 || a.body != "two" {
		t.Errorf("behind it: %d %q, want what the route of its host says", a.status, a.body)
	}
}

// The router streams the bodies of requests and of responses.
func TestBodiesArePassedOnPieceByPiece(t *testing.T) {
	onEachEngine(t, testBodiesArePassedOnPieceByPiece)
}

func testBodiesArePassedOnPieceByPiece(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		control := http.NewResponseController(w)
		control.EnableFullDuplex()
		room := make([]byte, 4096)
		for {
			n, err := q.Body.Read(room)
			w.Write(room[:n])
			control.Flush()
			if err != nil {
				return
			}
		}
	}), route())
	for what, client := range map[string]*http.Client{"HTTP/1.1": oneShot, "HTTP/2": h2c(t)} {
		body, w := io.Pipe()
		go w.Write([]byte("piece 0"))
		resp, err := client.Post("http://"+r.Addr()+"/", "", body)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		room := make([]byte, len("piece 0"))
		for n := range 10 {
			want := fmt.Sprintf("piece %d", n)
			if n > 0 {
				w.Write([]byte(want))
			}
			if _, err := io.ReadFull(resp.Body, room); err != nil || string(room) != want {
				t.Fatalf("%s: %q, %v, want %q before the next is sent", what, room, err, want)
			}
		}
		w.Close()
		if rest, err := io.ReadAll(resp.Body); err != nil || len(rest) != 0 {
			t.Errorf("%s: in the end %q, %v", what, rest, err)
		}
		resp.Body.Close()
	}
}

// The router keeps a connection after a response of its own, unless the request
// has a body.
func TestAConnectionGoesOnAfterErrors(t *testing.T) {
	onEachEngine(t, testAConnectionGoesOnAfterErrors)
}

func testAConnectionGoesOnAfterErrors(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("gone", unused(t), route(host("gone.org")))
	r.add("left", unused(t), route(host("left.org")))
	r.remove("left")
	r.add("one", says(t, "one"), route(host("one.org")))
	l := r.dial()
	for range 3 {
		for _, c := range []struct {
			host string
			want int
		}{{"nobody.org", 404}, {"gone.org", 502}, {"left.org", 503}, {"one.org", 200}} {
			l.send("GET / HTTP/1.1\r\nHost: %s\r\n\r\n", c.host)
			if a := l.read("GET"); a.status != c.want || a.close {
				t.Errorf("%s: %d, which ends the connection: %v; want %d, and that it goes on", c.host, a.status, a.close, c.want)
			}
		}
	}
	l.send("POST / HTTP/1.1\r\nHost: nobody.org\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: one.org\r\n\r\n")
	if a := l.read("POST"); a.status != 404 || !a.close {
		t.Errorf("with a body that nobody reads: %d, which ends the connection: %v", a.status, a.close)
	}
	l.ends()
}
