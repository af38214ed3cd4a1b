// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

const (
	honest = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
)

// talkative starts an instance that sends more than its first response of each
// connection: with it, or after it. The function that it returns waits until the
// bytes after a response are sent.
func talkative(t *testing.T, with, after string) (address string, sent func(), conns *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	conns = new(atomic.Int32)
	said := make(chan struct{}, 1)
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			conns.Add(1)
			go func() {
				defer nc.Close()
				room := make([]byte, 4096)
				for first := true; ; first = false {
					if _, err := nc.Read(room); err != nil {
						return
					}
					if !first {
						io.WriteString(nc, honest)
						continue
					}
					io.WriteString(nc, honest+with)
					io.WriteString(nc, after)
					said <- struct{}{}
				}
			}()
		}
	}()
	return l.Addr().String(), func() { <-said }, conns
}

func TestNoRequestGetsBytesOfAnEarlierResponse(t *testing.T) {
	onEachEngine(t, testNoRequestGetsBytesOfAnEarlierResponse)
}

func testNoRequestGetsBytesOfAnEarlierResponse(t *testing.T, on engine) {
	r := on.start(t, Config{})
	for name, c := range map[string]struct{ with, after string }{
		"response":       {poison, ""},
		"responses":      {strings.Repeat(poison, 20), ""},
		"half-a-head":    {"HTTP/1.1 200 OK\r\nX-Stolen: ", ""},
		"junk":           {" and more", ""},
		"later-response": {"", poison},
		"both":           {poison, poison},
	} {
		address, sent, conns := talkative(t, c.with, c.after)
		r.add(name, address, route(host(name)))
		for protocol, client := range map[string]*http.Client{"HTTP/1.1": oneShot, "HTTP/2": h2c(t)} {
			for i, method := range []string{"GET", "POST", "GET", "POST"} {
				q, err := http.NewRequest(method, "http://"+r.Addr()+"/", strings.NewReader("body"))
				if err != nil {
					t.Fatal(err)
				}
				q.Host = name
				resp, err := client.Do(q)
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if stolen := resp.Header.Get("X-Stolen"); err != nil || resp.StatusCode != 200 || string(text) != "ok" || stolen != "" {
					t.Fatalf("%s, request %d over %s: %d %q, X-Stolen %q, %v; want 200 \"ok\"", name, i, protocol, resp.StatusCode, text, stolen, err)
				}
				sent()
			}
		}
		if n := conns.Load(); n != 8 {
			t.Errorf("%s: 8 requests used %d connections, want one each", name, n)
		}
	}
}

// Many clients make it likely that a request takes a connection at the moment at
// which its last response ends.
func TestNoBusyClientGetsBytesOfAnEarlierResponse(t *testing.T) {
	onEachEngine(t, testNoBusyClientGetsBytesOfAnEarlierResponse)
}

func testNoBusyClientGetsBytesOfAnEarlierResponse(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("one", answers(t, honest+poison, false), route())
	var clients sync.WaitGroup
	for range 16 {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}, Timeout: deadline}
			defer client.CloseIdleConnections()
			for i := range 100 {
				resp, err := client.Post("http://"+r.Addr()+"/", "text/plain", strings.NewReader("body"))
				if err != nil {
					t.Error(err)
					return
				}
				text, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != 200 || string(text) != "ok" {
					t.Errorf("request %d: %d %q, %v; want 200 \"ok\"", i, resp.StatusCode, text, err)
					return
				}
			}
		})
	}
	clients.Wait()
}

// Requests that share a connection one after the other reuse it if its instance
// sends exactly its responses.
func TestAQuietConnectionIsReused(t *testing.T) { onEachEngine(t, testAQuietConnectionIsReused) }

func testAQuietConnectionIsReused(t *testing.T, on engine) {
	r := on.start(t, Config{})
	var mu sync.Mutex
	ports := make(map[string]bool)
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		mu.Lock()
		ports[q.RemoteAddr] = true
		mu.Unlock()
		switch q.URL.Path {
		case "/nothing":
			w.WriteHeader(http.StatusNoContent)
		case "/chunks":
			fmt.Fprint(w, strings.Repeat("a", 100_000))
		default:
			w.Header().Set("Content-Length", "2")
			fmt.Fprint(w, "ok")
		}
	}), route())
	for range 50 {
		for _, to := range []string{"x/", "x/nothing", "x/chunks"} {
			for _, method := range []string{"GET", "HEAD", "POST"} {
				if a := r.do(method, to, nil); a.status/100 != 2 {
					t.Fatalf("%s %s: %d %q", method, to, a.status, a.body)
				}
			}
		}
	}
	if len(ports) > 45 { // the client may send a request before the router has parked the connection of the one before
		t.Errorf("450 requests in a row used %d connections, want at most 45", len(ports))
	}
}
