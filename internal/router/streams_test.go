// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

func TestWebSocket(t *testing.T) { onEachEngine(t, testWebSocket) }

func testWebSocket(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		c, err := websocket.Accept(w, q, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		c.SetReadLimit(1 << 20)
		for {
			kind, text, err := c.Read(q.Context())
			if err != nil {
				return
			}
			if err := c.Write(q.Context(), kind, append([]byte("you said "), text...)); err != nil {
				return
			}
		}
	}), route(path("/ws")))
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	c, resp, err := websocket.Dial(ctx, "ws://"+r.Addr()+"/ws", nil)
	if err != nil {
		t.Fatalf("%v %v", err, resp)
	}
	say := func(text string) {
		t.Helper()
		if err := c.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, got, err := c.Read(ctx); err != nil || string(got) != "you said "+text {
			t.Fatalf("%.20q (%d bytes), %v", got, len(got), err)
		}
	}
	c.SetReadLimit(1 << 20)
	say("hello")
	say(strings.Repeat("a", 100_000))
	r.remove("one") // what is under way goes on
	say("still here")
	if err := c.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Errorf("close: %v", err)
	}
	eventually(t, "the tunnel is counted", func() bool { return r.Status().Routes[0].Responses["1xx"] == 1 })
}

// h2c returns a client that speaks HTTP/2 without TLS.
func h2c(t *testing.T) *http.Client {
	var only http.Protocols
	only.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &only}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: deadline}
}

func TestHTTP2ToInstancesThatSpeakHTTP1(t *testing.T) {
	onEachEngine(t, testHTTP2ToInstancesThatSpeakHTTP1)
}

func testHTTP2ToInstancesThatSpeakHTTP1(t *testing.T, on engine) {
	r := on.start(t, Config{MaxBody: 1 << 20})
	echo := func(w http.ResponseWriter, q *http.Request) {
		fmt.Fprintf(w, "%s %s for=%s host=%s ", q.Proto, q.RequestURI, q.Header.Get("X-Forwarded-For"), q.Host)
		io.Copy(w, q.Body)
	}
	r.add("one", serve(t, echo), route(path("/api"), strip, sticky("s")))
	r.add("gone", unused(t), route(path("/api"), strip, sticky("s")))
	client := h2c(t)
	for range 10 {
		q, _ := http.NewRequest("POST", "http://"+r.Addr()+"/api/x?y", strings.NewReader("body"))
		q.Host = "web.org"
		q.Header.Set("X-Forwarded-For", "6.6.6.6")
		resp, err := client.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if want := "HTTP/1.1 /x?y for=127.0.0.1 host=web.org body"; resp.ProtoMajor != 2 || string(text) != want || resp.Header.Get("Set-Cookie") == "" {
			t.Errorf("%s %d %q %v", resp.Proto, resp.StatusCode, text, resp.Header)
		}
	}
	for what, c := range map[string]struct {
		path string
		size int
		want int
	}{"no route": {"/other", 0, 404}, "large body": {"/api/", 2 << 20, 413}} {
		resp, err := client.Post("http://"+r.Addr()+c.path, "", strings.NewReader(strings.Repeat("a", c.size)))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != c.want || !strings.Contains(string(text), "request id: ") {
			t.Errorf("%s: %d %q", what, resp.StatusCode, text)
		}
	}
}

// frame returns a message with the framing of gRPC.
func frame(text string) []byte {
	b := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(text)))
	return append(b, text...)
}

// A gRPC call is a POST over HTTP/2 whose response has its status in trailers. Both
// sides may send indefinitely.
func TestGRPC(t *testing.T) { onEachEngine(t, testGRPC) }

func testGRPC(t *testing.T, on engine) {
	r := on.start(t, Config{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		head := make([]byte, 5)
		for {
			if _, err := io.ReadFull(q.Body, head); err != nil {
				break
			}
			text := make([]byte, binary.BigEndian.Uint32(head[1:]))
			io.ReadFull(q.Body, text)
			w.Write(frame("you said " + string(text)))
			w.(http.Flusher).Flush()
		}
		w.Header().Set("Grpc-Status", "0")
		w.Header().Set("Grpc-Message", q.Proto+" te="+q.Header.Get("Te"))
	}))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	r.add("one", s.Listener.Addr().String(), route(path("/echo.Service"), grpc))
	r.add("site", says(t, "site"), route())
	client := h2c(t)
	sending, body := io.Pipe()
	q, _ := http.NewRequest("POST", "http://"+r.Addr()+"/echo.Service/Talk", sending)
	q.Header.Set("Content-Type", "application/grpc")
	q.Header.Set("Te", "trailers")
	resp, err := client.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for _, word := range []string{"one", "two"} {
		body.Write(frame(word))
		got := make([]byte, len(frame("you said "+word)))
		if _, err := io.ReadFull(resp.Body, got); err != nil || !bytes.Equal(got, frame("you said "+word)) {
			t.Fatalf("%q %v", got, err)
		}
	}
	r.remove("one") // the call under way goes on
	body.Write(frame("three"))
	body.Close()
	if rest, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(rest, frame("you said three")) {
		t.Errorf("%q %v", rest, err)
	}
	if resp.Trailer.Get("Grpc-Status") != "0" || resp.Trailer.Get("Grpc-Message") != "HTTP/2.0 te=trailers" {
		t.Errorf("trailers %v", resp.Trailer)
	}
	q, _ = http.NewRequest("POST", "http://"+r.Addr()+"/echo.Service/Talk", bytes.NewReader(frame("x")))
	q.Header.Set("Content-Type", "application/grpc+proto")
	if resp, err = client.Do(q); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 || resp.Header.Get("Grpc-Status") != "14" || !strings.Contains(resp.Header.Get("Grpc-Message"), "no%20instance") {
		t.Errorf("a call without instance: %d %v", resp.StatusCode, resp.Header)
	}
	if a := r.do("POST", "x/echo.Service/Talk", nil); a.status != 426 {
		t.Errorf("HTTP/1.1 to a gRPC route: %d %q", a.status, a.body)
	}
}

// echoTCP starts an instance that returns all bytes, and then a last word.
func echoTCP(t *testing.T, last string) string {
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
				io.Copy(nc, nc)
				io.WriteString(nc, last)
			}()
		}
	}()
	return l.Addr().String()
}

func TestTCP(t *testing.T) {
	r := fast.start(t, Config{})
	_, port, _ := net.SplitHostPort(unused(t))
	var listen int
	fmt.Sscan(port, &listen)
	r.add("one", echoTCP(t, "bye"), route(tcp(listen)))
	r.add("gone", unused(t), route(tcp(listen)))
	talk := func(size int) {
		t.Helper()
		nc, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		nc.SetDeadline(time.Now().Add(deadline))
		text := bytes.Repeat([]byte("x"), size)
		go func() {
			nc.Write(text)
			nc.(*net.TCPConn).CloseWrite()
		}()
		if got, err := io.ReadAll(nc); err != nil || len(got) != size+3 || !bytes.HasSuffix(got, []byte("bye")) {
			t.Errorf("%d of %d bytes, %v", len(got), size, err)
		}
	}
	for _, size := range []int{0, 1, 1000, 4096, 10 << 20} {
		talk(size)
	}
	open, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	open.SetDeadline(time.Now().Add(deadline))
	ping := func() {
		t.Helper()
		room := make([]byte, 4)
		io.WriteString(open, "ping")
		if _, err := io.ReadFull(open, room); err != nil || string(room) != "ping" {
			t.Fatalf("%q %v", room, err)
		}
	}
	ping()
	r.remove("one", "gone")
	ping() // what is under way goes on
	nc, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err == nil {
		nc.SetDeadline(time.Now().Add(deadline))
		if _, err := nc.Read(make([]byte, 1)); err == nil {
			t.Error("a connection without instance reads something")
		}
		nc.Close()
	}
	eventually(t, "it is counted", func() bool { return r.Status().Routes[0].Unserved == 1 })
	r.tidy(time.Now().Add(remembered))
	if nc, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
		nc.Close()
		t.Error("the port is open long after the last instance left")
	}
}

func TestAPortThatSomebodyElseHasIsAProblemUntilItIsFree(t *testing.T) {
	r := fast.start(t, Config{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	r.add("one", echoTCP(t, ""), route(tcp(port)))
	if p := r.Status().Problems; len(p) != 1 || !strings.Contains(p[0], "cannot be opened: bind: address already in use") {
		t.Fatalf("problems: %q", p)
	}
	l.Close()
	r.tidy(time.Now())
	if p := r.Status().Problems; len(p) != 0 {
		t.Fatalf("problems when it is free: %q", p)
	}
	if _, err := New(Config{HTTPAddr: r.Addr()}); err == nil || !strings.Contains(err.Error(), "already in use") {
		t.Errorf("a second router at the same address: %v", err)
	}
}
