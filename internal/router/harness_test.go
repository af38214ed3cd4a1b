// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// deadline limits each wait of a test.
const deadline = 15 * time.Second

// running is a router on loopback, with a catalog that the test provides.
type running struct {
	*Router
	t       *testing.T
	index   uint64
	entries map[string]*api.CatalogEntry
	stop    func()
}

// An engine is a value of Config.Engine.
type engine string

const (
	fast     engine = EngineFast
	standard engine = EngineStandard
)

// onEachEngine runs a test once per engine.
func onEachEngine(t *testing.T, test func(*testing.T, engine)) {
	for _, on := range []engine{fast, standard} {
		t.Run(string(on), func(t *testing.T) { test(t, on) })
	}
}

func (e engine) start(t *testing.T, config Config) *running {
	t.Helper()
	config.Engine = string(e)
	config.HTTPAddr = "127.0.0.1:0"
	if config.DrainTimeout == 0 {
		config.DrainTimeout = time.Second
	}
	config.Logger = slog.New(slog.NewTextHandler(testLog{t}, nil))
	r, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx)
	}()
	var once sync.Once
	stop := func() {
		once.Do(func() {
			cancel()
			<-done
		})
	}
	t.Cleanup(stop)
	return &running{Router: r, t: t, entries: map[string]*api.CatalogEntry{}, stop: stop}
}

type testLog struct{ t *testing.T }

func (l testLog) Write(b []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(b)))
	return len(b), nil
}

// route returns a route in its canonical form.
func route(changes ...func(*api.Route)) *api.Route {
	one := 1
	r := &api.Route{Protocol: api.RouteHTTP, Path: "/", Port: "http", Weight: &one}
	for _, change := range changes {
		change(r)
	}
	return r
}

func host(name string) func(*api.Route)   { return func(r *api.Route) { r.Host = name } }
func path(p string) func(*api.Route)      { return func(r *api.Route) { r.Path = p } }
func strip(r *api.Route)                  { r.StripPath = true }
func grpc(r *api.Route)                   { r.Protocol = api.RouteGRPC }
func sticky(name string) func(*api.Route) { return func(r *api.Route) { r.Sticky = name } }
func weight(n int) func(*api.Route)       { return func(r *api.Route) { r.Weight = &n } }
func tcp(port int) func(*api.Route) {
	return func(r *api.Route) { r.Protocol, r.Path, r.Listen = api.RouteTCP, "", port }
}

// add makes an allocation routable, or changes it.
func (r *running) add(alloc, address string, routes ...*api.Route) {
	r.t.Helper()
	e := &api.CatalogEntry{AllocID: alloc, Namespace: "default", JobID: "web", Group: "web", Index: r.index + 1}
	for _, to := range routes {
		e.Endpoints = append(e.Endpoints, &api.Endpoint{Route: to, Address: address})
	}
	r.index++
	r.Apply(&api.CatalogUpdate{Index: r.index, Entries: []*api.CatalogEntry{e}})
}

func (r *running) remove(allocs ...string) {
	r.index++
	r.Apply(&api.CatalogUpdate{Index: r.index, Removed: allocs})
}

// serve starts an instance and returns its address.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// says starts an instance that responds with a word.
func says(t *testing.T, word string) string {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, word) })
}

// unused returns an address without a listener.
func unused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// get sends a request to the router, and returns the status and body of the
// response.
func (r *running) get(hostAndPath string, change ...func(*http.Request)) (int, string) {
	r.t.Helper()
	a := r.do(http.MethodGet, hostAndPath, nil, change...)
	return a.status, a.body
}

type reply struct {
	status int
	header http.Header
	body   string
	close  bool
}

func (r *running) do(method, hostAndPath string, body io.Reader, change ...func(*http.Request)) reply {
	r.t.Helper()
	name, rest, _ := strings.Cut(hostAndPath, "/")
	req, err := http.NewRequest(method, "http://"+r.Addr()+"/"+rest, body)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Host = name
	for _, c := range change {
		c(req)
	}
	resp, err := oneShot.Do(req)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, hostAndPath, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, hostAndPath, err)
	}
	return reply{resp.StatusCode, resp.Header, string(text), resp.Close}
}

// oneShot is a client without keep-alive connections.
var oneShot = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Timeout:       deadline,
}

// A line is a connection for bytes that no regular client sends.
type line struct {
	net.Conn
	t *testing.T
	r *bufio.Reader
}

func (r *running) dial() *line {
	r.t.Helper()
	nc, err := net.Dial("tcp", r.Addr())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(deadline))
	return &line{nc, r.t, bufio.NewReader(nc)}
}

func (l *line) send(format string, args ...any) {
	l.t.Helper()
	if _, err := fmt.Fprintf(l.Conn, format, args...); err != nil {
		l.t.Fatalf("write: %v", err)
	}
}

// read reads one response.
func (l *line) read(method string) reply {
	l.t.Helper()
	resp, err := http.ReadResponse(l.r, &http.Request{Method: method})
	if err != nil {
		l.t.Fatalf("read an answer: %v", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatalf("read an answer's body: %v (so far %q)", err, text)
	}
	return reply{resp.StatusCode, resp.Header, string(text), resp.Close}
}

// ends waits for the router to close the connection.
func (l *line) ends() {
	l.t.Helper()
	if rest, err := io.ReadAll(l.r); err != nil {
		l.t.Fatalf("the connection was not closed: %v (read %q)", err, rest)
	}
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	if !wait.Poll(ctx, 2*time.Millisecond, holds) {
		t.Fatalf("not within %s: %s", deadline, what)
	}
}
