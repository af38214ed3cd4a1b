// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// clients returns a client for each protocol.
func clients(t *testing.T) map[string]*http.Client {
	return map[string]*http.Client{"HTTP/1.1": oneShot, "HTTP/2": h2c(t)}
}

// stalled holds responses that begin and then stall, by host.
var stalled = map[string]string{
	"length":      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
	"head":        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
	"chunked":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
	"until-close": "HTTP/1.1 200 OK\r\n\r\nhalf",
}

// ask sends a request, and returns after the head of its response.
func (r *running) ask(client *http.Client, hostAndPath string) *http.Response {
	r.t.Helper()
	name, rest, _ := strings.Cut(hostAndPath, "/")
	q, err := http.NewRequest("GET", "http://"+r.Addr()+"/"+rest, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	q.Host = name
	resp, err := client.Do(q)
	if err != nil {
		r.t.Fatalf("%s: %v", hostAndPath, err)
	}
	r.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// instance returns the state of the only instance of a host.
func (r *running) instance(host string) *api.RouterInstance {
	r.t.Helper()
	for _, to := range r.Status().Routes {
		if to.Host == host {
			return to.Instances[0]
		}
	}
	r.t.Fatalf("no route has the host %q", host)
	return nil
}

func TestAnAnswerThatStallsIsBrokenOff(t *testing.T) {
	onEachEngine(t, testAnAnswerThatStallsIsBrokenOff)
}

func testAnAnswerThatStallsIsBrokenOff(t *testing.T, on engine) {
	r := on.start(t, Config{BodyTimeout: 100 * time.Millisecond})
	for name, text := range stalled {
		r.add(name, answers(t, text, false), route(host(name)))
	}
	for what, client := range clients(t) {
		for name := range stalled {
			before := r.instance(name).Failures
			if text, err := io.ReadAll(r.ask(client, name+"/").Body); err == nil {
				t.Errorf("%s, %s: %q was taken for the whole answer", what, name, text)
			}
			eventually(t, "the failure is counted, and nothing is left open", func() bool {
				i := r.instance(name)
				return i.Outstanding == 0 && i.Failures == before+1
			})
		}
	}
}

// Responses that stall are consecutive failures, although each began well.
func TestAnInstanceWhoseAnswersStallIsEjected(t *testing.T) {
	onEachEngine(t, testAnInstanceWhoseAnswersStallIsEjected)
}

func testAnInstanceWhoseAnswersStallIsEjected(t *testing.T, on engine) {
	for what := range clients(t) {
		r := on.start(t, Config{BodyTimeout: 20 * time.Millisecond})
		client := clients(t)[what]
		r.add("stalls", answers(t, stalled["length"], false), route(weight(1000)))
		r.add("good", says(t, "good"), route())
		eventually(t, what+": it is ejected", func() bool {
			io.Copy(io.Discard, r.ask(client, "x/").Body)
			for _, i := range r.Status().Routes[0].Instances {
				if i.AllocID == "stalls" && i.Ejections > 0 {
					if want := "the answer ended early: no byte of it came within body_timeout"; i.EjectedUntil != 0 && i.EjectedFor != want {
						t.Errorf("%s: ejected for %q, want %q", what, i.EjectedFor, want)
					}
					return true
				}
			}
			return false
		})
	}
}

// paced writes a byte of a response after each pause.
func paced(w io.Writer, flush func() error, pauses []time.Duration) {
	for _, d := range pauses {
		wait.Pass(context.Background(), d)
		w.Write([]byte("x"))
		flush()
	}
}

// A byte within the timeout is enough, for any sequence of pauses. The timeout is
// never shorter than configured.
func TestASlowBodyThatGoesOnPasses(t *testing.T) { onEachEngine(t, testASlowBodyThatGoesOnPasses) }

func testASlowBodyThatGoesOnPasses(t *testing.T, on engine) {
	const limit = 3 * time.Second
	pauses := []time.Duration{limit * 45 / 100, limit * 8 / 10, limit / 10}
	r := on.start(t, Config{BodyTimeout: limit})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		control := http.NewResponseController(w)
		if strings.HasPrefix(q.Host, "length") {
			w.Header().Set("Content-Length", "3")
		}
		if text, err := io.ReadAll(q.Body); err != nil || len(text) == 0 {
			paced(w, control.Flush, pauses)
		} else {
			w.Write(text)
		}
	}), route())
	var all sync.WaitGroup
	defer all.Wait()
	for what, client := range clients(t) {
		check := func(q *http.Request, want string) {
			resp, err := client.Do(q)
			if err != nil {
				t.Errorf("%s, %s %s: %v", what, q.Method, q.Host, err)
				return
			}
			defer resp.Body.Close()
			if text, err := io.ReadAll(resp.Body); err != nil || string(text) != want {
				t.Errorf("%s, %s %s: %d %q, %v, want %q", what, q.Method, q.Host, resp.StatusCode, text, err, want)
			}
		}
		for _, host := range []string{"length", "chunked"} {
			q, _ := http.NewRequest("GET", "http://"+r.Addr()+"/", nil)
			q.Host = host
			all.Go(func() { check(q, "xxx") })
		}
		body, w := io.Pipe()
		q, _ := http.NewRequest("POST", "http://"+r.Addr()+"/", body)
		all.Go(func() { check(q, "_xxx") })
		all.Go(func() {
			w.Write([]byte("_"))
			paced(w, func() error { return nil }, pauses)
			w.Close()
		})
	}
}

// outlast returns after body_timeout, when the router has broken off responses that
// stall.
func (r *running) outlast() {
	r.t.Helper()
	for range 3 {
		if text, err := io.ReadAll(r.ask(oneShot, "length/").Body); err == nil {
			r.t.Fatalf("an answer that stalls ended with %q", text)
		}
	}
}

// Streams of events, gRPC streams and WebSockets may pause.
func TestAStreamMayBeSilentForLongerThanBodyTimeout(t *testing.T) {
	onEachEngine(t, testAStreamMayBeSilentForLongerThanBodyTimeout)
}

func testAStreamMayBeSilentForLongerThanBodyTimeout(t *testing.T, on engine) {
	r := on.start(t, Config{BodyTimeout: 100 * time.Millisecond})
	r.add("length", answers(t, stalled["length"], false), route(host("length")))
	goOn := make(chan struct{})
	r.add("stream", serve(t, func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Upgrade") != "" {
			if c, err := websocket.Accept(w, q, nil); err == nil {
				<-goOn
				c.Write(q.Context(), websocket.MessageText, []byte("end"))
				c.Close(websocket.StatusNormalClosure, "")
			}
			return
		}
		w.Header().Set("Content-Type", q.URL.Query().Get("type"))
		io.WriteString(w, "begin ")
		http.NewResponseController(w).Flush()
		<-goOn
		io.WriteString(w, "end")
	}), route(host("stream")))
	open := map[string]*http.Response{}
	for what, client := range clients(t) {
		for _, kind := range []string{"text/event-stream", "Text/Event-Stream ; charset=utf-8", "application/grpc-web+proto"} {
			open[what+" "+kind] = r.ask(client, "stream/?type="+url.QueryEscape(kind))
		}
	}
	c, _, err := websocket.Dial(t.Context(), "ws://"+r.Addr()+"/", &websocket.DialOptions{Host: "stream"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	r.outlast()
	close(goOn)
	for what, resp := range open {
		if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "begin end" {
			t.Errorf("%s: %q, %v", what, text, err)
		}
	}
	if _, text, err := c.Read(t.Context()); err != nil || string(text) != "end" {
		t.Errorf("WebSocket: %q, %v", text, err)
	}
	if n := r.instance("stream").Failures; n != 0 {
		t.Errorf("the instance is blamed for %d failures", n)
	}
}

func TestAStreamEndsWhenItsClientLeaves(t *testing.T) {
	onEachEngine(t, testAStreamEndsWhenItsClientLeaves)
}

func testAStreamEndsWhenItsClientLeaves(t *testing.T, on engine) {
	r := on.start(t, Config{BodyTimeout: 100 * time.Millisecond})
	left := make(chan struct{})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		http.NewResponseController(w).Flush()
		<-q.Context().Done()
		left <- struct{}{}
	}), route())
	for what, client := range clients(t) {
		r.ask(client, "x/").Body.Close()
		select {
		case <-left:
		case <-wait.Limit(t, deadline):
			t.Fatalf("%s: the instance still works for a client that is gone", what)
		}
	}
}

func TestAClientThatStopsReadingIsGivenUp(t *testing.T) {
	onEachEngine(t, testAClientThatStopsReadingIsGivenUp)
}

func testAClientThatStopsReadingIsGivenUp(t *testing.T, on engine) {
	r := on.start(t, Config{BodyTimeout: 100 * time.Millisecond})
	over := make(chan struct{})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", q.URL.Query().Get("type"))
		for piece := make([]byte, 64<<10); ; {
			if _, err := w.Write(piece); err != nil {
				over <- struct{}{}
				return
			}
		}
	}), route(host("x")))
	for what, client := range clients(t) {
		for _, kind := range []string{"text/plain", "text/event-stream"} {
			r.ask(client, "x/?type="+kind) // whose body nobody reads
			select {
			case <-over:
			case <-wait.Limit(t, deadline):
				t.Fatalf("%s, %s: the instance still works for a client that takes nothing", what, kind)
			}
		}
	}
	eventually(t, "all are counted as given up by their clients", func() bool { return r.Status().Routes[0].Responses["4xx"] == 4 })
	if n := r.instance("x").Failures; n != 0 {
		t.Errorf("the instance is blamed for %d failures", n)
	}
}

// The time limit of a response applies to a refusal too, whose client may leave no
// room for a single byte.
func TestAnHTTP2ClientWithoutRoomForARefusalIsGivenUp(t *testing.T) {
	onEachEngine(t, testAnHTTP2ClientWithoutRoomForARefusalIsGivenUp)
}

func testAnHTTP2ClientWithoutRoomForARefusalIsGivenUp(t *testing.T, on engine) {
	r := on.start(t, Config{BodyTimeout: 100 * time.Millisecond})
	l := r.dial()
	frame := func(kind, flags byte, stream uint32, payload string) string {
		head := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
		return string(binary.BigEndian.AppendUint32(append(head, flags), stream)) + payload
	}
	const headers, reset, settings = 1, 3, 4
	const ended = 1 | 4 // END_STREAM, END_HEADERS
	l.send("%s", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+
		frame(settings, 0, 0, "\x00\x04\x00\x00\x00\x00")+ // INITIAL_WINDOW_SIZE 0
		frame(headers, ended, 1, "\x82\x86\x84\x41\x01x")) // GET, http, /, :authority x
	for head := make([]byte, 9); ; {
		if _, err := io.ReadFull(l.r, head); err != nil {
			t.Fatalf("the stream was not reset: %v", err)
		}
		if head[3] == reset {
			return
		}
		length := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		io.CopyN(io.Discard, l.r, length)
	}
}

// A response may begin before the end of its request, and wait for it. The client
// is responsible for a request that stalls.
func TestAnInstanceIsNotBlamedForARequestThatStalls(t *testing.T) {
	onEachEngine(t, testAnInstanceIsNotBlamedForARequestThatStalls)
}

func testAnInstanceIsNotBlamedForARequestThatStalls(t *testing.T, on engine) {
	r := on.start(t, Config{BodyTimeout: 100 * time.Millisecond})
	left := make(chan struct{})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		control := http.NewResponseController(w)
		control.EnableFullDuplex()
		control.Flush()
		io.Copy(w, q.Body)
		left <- struct{}{}
	}), route(host("")))
	for what, client := range clients(t) {
		body, w := io.Pipe()
		defer w.Close()
		resp, err := client.Post("http://"+r.Addr()+"/", "", body)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if text, err := io.ReadAll(resp.Body); err == nil {
			t.Errorf("%s: %q was taken for the whole answer", what, text)
		}
		<-left
	}
	eventually(t, "both requests end", func() bool { return r.instance("").Outstanding == 0 })
	if n := r.instance("").Failures; n != 0 {
		t.Errorf("the instance is blamed for %d failures", n)
	}
}

func TestBodiesWithoutATimeout(t *testing.T) { onEachEngine(t, testBodiesWithoutATimeout) }

func testBodiesWithoutATimeout(t *testing.T, on engine) {
	r := on.start(t, Config{BodyTimeout: NoLimit})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		text, _ := io.ReadAll(q.Body)
		w.Write(text)
		http.NewResponseController(w).Flush()
		w.Write(text)
	}), route())
	for what, client := range clients(t) {
		for _, size := range []int{1, 300_000} {
			text := strings.Repeat("a", size)
			resp, err := client.Post("http://"+r.Addr()+"/", "", strings.NewReader(text))
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || string(got) != text+text {
				t.Errorf("%s: %d bytes of %d, %v", what, len(got), 2*size, err)
			}
		}
	}
}

// The transport may still read the body of a request when the response and the
// stream have ended.
func TestManyHTTP2AnswersBeforeTheirRequestsEnd(t *testing.T) {
	r := fast.start(t, Config{})
	r.add("one", serve(t, func(w http.ResponseWriter, q *http.Request) {
		io.ReadFull(q.Body, make([]byte, 1000))
		w.WriteHeader(http.StatusForbidden)
	}), route())
	client := h2c(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				resp, err := client.Post("http://"+r.Addr()+"/", "", struct{ io.Reader }{bytes.NewReader(make([]byte, 1<<20))})
				if err == nil {
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			}
		})
	}
	wg.Wait()
	if code, _ := r.get("x/"); code != http.StatusForbidden {
		t.Errorf("afterwards: %d", code)
	}
}

// A protocol change that the client did not request must not leak a connection.
func TestAnUnaskedChangeOfProtocolIsRefusedToHTTP2(t *testing.T) {
	onEachEngine(t, testAnUnaskedChangeOfProtocolIsRefusedToHTTP2)
}

func testAnUnaskedChangeOfProtocolIsRefusedToHTTP2(t *testing.T, on engine) {
	r := on.start(t, Config{})
	r.add("one", answers(t, "HTTP/1.1 101 Switching Protocols\r\n\r\n", false), route(host("x")))
	if resp := r.ask(h2c(t), "x/"); resp.StatusCode != http.StatusBadGateway {
		t.Errorf("status %d, want 502", resp.StatusCode)
	}
	if n := r.instance("x").Outstanding; n != 0 {
		t.Errorf("%d requests are outstanding for ever", n)
	}
}
