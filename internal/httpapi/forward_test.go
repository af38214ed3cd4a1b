// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// TestALeaderThatChangesLosesAndRepeatsNoWrite lets leadership move between servers while
// clients write through a third one.
func TestALeaderThatChangesLosesAndRepeatsNoWrite(t *testing.T) {
	eachWay(t, aLeaderThatChangesLosesAndRepeatsNoWrite)
}

func aLeaderThatChangesLosesAndRepeatsNoWrite(t *testing.T, f *fleet) {
	var done journal
	var leader, known atomic.Pointer[machine]
	var served atomic.Int64
	var servers [2]*machine
	for i := range servers {
		leads := func() bool { return servers[i] != nil && leader.Load() == servers[i] }
		servers[i] = f.server(fmt.Sprint("s", i+1), leads, at(&known), func(w http.ResponseWriter, r *http.Request) {
			done.serve(w, r)
			if served.Add(1)%10 == 0 { // it loses its leadership, and the others learn of that later
				leader.Store(nil)
				go func() {
					known.Store(servers[1-i])
					leader.Store(servers[1-i])
				}()
			}
		})
	}
	leader.Store(servers[0])
	known.Store(servers[0])
	third := f.server("s3", never, at(&known), nil)
	f.link(third, servers[0])
	f.link(third, servers[1])
	var clients sync.WaitGroup
	for n := range 100 {
		clients.Go(func() {
			request := fmt.Sprint("write-", n, strings.Repeat("x", n*100))
			if got := f.ask(third, http.MethodPut, "/service/x", request); got.status != http.StatusOK || got.body != "did "+request {
				t.Errorf("request %d: %d %.200s", n, got.status, got.body)
			}
			if times := done.count(request); times != 1 {
				t.Errorf("request %d was done %d times", n, times)
			}
		})
	}
	clients.Wait()
}

func TestAWriteWaitsForALeader(t *testing.T) {
	f := newFleet(t)
	var done journal
	var known atomic.Pointer[machine]
	asked := make(chan struct{})
	var once sync.Once
	third := f.server("s3", never, func() (string, bool) {
		once.Do(func() { close(asked) })
		return at(&known)()
	}, nil)
	leader := f.server("s1", always, nil, done.serve)
	go func() {
		<-asked // the request waits
		known.Store(leader)
	}()
	if got := f.ask(third, http.MethodPut, "/service/x", "one"); got.status != http.StatusOK || done.count("one") != 1 {
		t.Errorf("got %d %s, done %d times", got.status, got.body, done.count("one"))
	}
}

func TestAServerThatBecomesLeaderAnswersItself(t *testing.T) {
	f := newFleet(t)
	var done journal
	var leads atomic.Bool
	s := f.server("s1", leads.Load, func() (string, bool) {
		leads.Store(true) // while the request waits
		return "", false
	}, done.serve)
	if got := f.ask(s, http.MethodPut, "/service/x", "one"); got.status != http.StatusOK || got.body != "did one" {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

func TestWithoutALeaderAnErrorSaysThatNothingWasDone(t *testing.T) {
	f := newFleet(t)
	s := f.server("s1", never, func() (string, bool) { return "", false }, nil)
	s.patience = 50 * time.Millisecond
	got := f.ask(s, http.MethodPut, "/service/x", "one")
	if got.status != http.StatusServiceUnavailable || got.header.Get(notLeaderHeader) != "s1" || !strings.Contains(got.body, "no leader") || !strings.Contains(got.body, "reeve server list") {
		t.Errorf("got %d, header %q: %s", got.status, got.header.Get(notLeaderHeader), got.body)
	}
}

// breaks answers a request by breaking the connection, after it was read.
func breaks(received *atomic.Int64) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		received.Add(1)
		panic(http.ErrAbortHandler)
	}
}

func TestAWriteThatAServerReceivedIsNotRepeated(t *testing.T) {
	eachWay(t, aWriteThatAServerReceivedIsNotRepeated)
}

func aWriteThatAServerReceivedIsNotRepeated(t *testing.T, f *fleet) {
	var received atomic.Int64
	var done journal
	var known atomic.Pointer[machine]
	bad := f.server("s1", always, nil, breaks(&received))
	known.Store(bad)
	third := f.server("s3", never, at(&known), nil)
	f.link(third, bad)
	good := f.server("s2", always, nil, done.serve)
	agent := f.join("n1", pki.RoleNode, nil, func(c *Config) { c.Servers = func() []string { return []string{bad.addr, good.addr} } })
	agent.lastGood.Store(&bad.addr)
	for what, at := range map[string]*machine{"a server": third, "a node": agent} {
		for _, header := range [][]string{nil, {"Idempotency-Key", "k"}, {"X-Idempotency-Key", "k"}} {
			for _, body := range []string{"one", ""} {
				before := received.Load()
				got := f.ask(at, http.MethodPut, "/service/x", body, header...)
				if got.status != http.StatusServiceUnavailable || got.header.Get(notLeaderHeader) != "" || !strings.Contains(got.body, "may have been made") {
					t.Errorf("%s, %v: got %d, not leader %q: %s", what, header, got.status, got.header.Get(notLeaderHeader), got.body)
				}
				if n := received.Load() - before; n != 1 {
					t.Errorf("%s, %v: the write was sent %d times", what, header, n)
				}
			}
		}
	}
	// A read is, because it changes nothing.
	for what, at := range map[string]*machine{"a node": agent, "a server": third} {
		before := received.Load()
		go func() {
			wait.Poll(t.Context(), time.Millisecond, func() bool { return received.Load() > before })
			known.Store(good)
		}()
		if got := f.ask(at, http.MethodGet, "/service/x", ""); got.status != http.StatusOK {
			t.Errorf("a read through %s: %d %s", what, got.status, got.body)
		}
	}
}

func TestAnUnreachableServerIsPassedOver(t *testing.T) { eachWay(t, anUnreachableServerIsPassedOver) }

func anUnreachableServerIsPassedOver(t *testing.T, f *fleet) {
	var done journal
	good := f.server("s2", always, nil, done.serve)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().String()
	l.Close()
	var known atomic.Pointer[machine]
	known.Store(&machine{addr: gone})
	var once sync.Once
	third := f.server("s3", never, func() (string, bool) {
		defer once.Do(func() { known.Store(good) })
		return at(&known)()
	}, nil)
	if got := f.ask(third, http.MethodPut, "/service/x", "by a server"); got.status != http.StatusOK || done.count("by a server") != 1 {
		t.Errorf("a server: %d %s", got.status, got.body)
	}
	agent := f.join("n1", pki.RoleNode, nil, func(c *Config) { c.Servers = func() []string { return []string{gone, good.addr} } })
	agent.lastGood.Store(&gone)
	if got := f.ask(agent, http.MethodPut, "/service/x", "by a node"); got.status != http.StatusOK || done.count("by a node") != 1 {
		t.Errorf("a node: %d %s", got.status, got.body)
	}
	if now := agent.lastGood.Load(); now == nil || *now != good.addr {
		t.Errorf("the node keeps to %v, want %s", now, good.addr)
	}
	lost := f.join("n2", pki.RoleNode, nil, func(c *Config) { c.Servers = func() []string { return []string{gone} } })
	if got := f.ask(lost, http.MethodPut, "/service/x", ""); got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, gone) {
		t.Errorf("a node without a reachable server: %d %s", got.status, got.body)
	}
}

func TestANodeTriesAnotherServerIfOneKnowsNoLeader(t *testing.T) {
	f := newFleet(t)
	var done journal
	good := f.server("s2", always, nil, done.serve)
	alone := f.server("s1", never, func() (string, bool) { return "", false }, nil)
	alone.patience = 20 * time.Millisecond
	agent := f.join("n1", pki.RoleNode, nil, func(c *Config) { c.Servers = func() []string { return []string{alone.addr, good.addr} } })
	agent.lastGood.Store(&alone.addr)
	if got := f.ask(agent, http.MethodPut, "/service/x", "one"); got.status != http.StatusOK || done.count("one") != 1 {
		t.Errorf("got %d %s, done %d times", got.status, got.body, done.count("one"))
	}
}

func TestNodesSpreadOverServers(t *testing.T) {
	servers := []string{"10.0.0.1:4646", "10.0.0.2:4646", "10.0.0.3:4646"}
	first := map[string]int{}
	moved := 0
	for range 3000 {
		id := api.NewID()
		h := &Handler{Config: Config{NodeID: func() string { return id }}}
		ranked := h.rank(servers)
		first[ranked[0]]++
		if left := h.rank(servers[:2]); ranked[0] != servers[2] && left[0] != ranked[0] {
			moved++
		}
	}
	for _, s := range servers {
		if first[s] < 850 || first[s] > 1150 {
			t.Errorf("%s is first for %d of 3000 nodes: %v", s, first[s], first)
		}
	}
	if moved > 0 {
		t.Errorf("%d nodes moved although their server stayed", moved)
	}
}

func TestForwardedRequestsKeepTheirCaller(t *testing.T) { eachWay(t, forwardedRequestsKeepTheirCaller) }

func forwardedRequestsKeepTheirCaller(t *testing.T, f *fleet) {
	var seen atomic.Pointer[http.Request]
	var known atomic.Pointer[machine]
	leader := f.server("s1", always, nil, func(w http.ResponseWriter, r *http.Request) { seen.Store(r) })
	known.Store(leader)
	follower := f.server("s2", never, at(&known), nil)
	f.link(follower, leader)
	forged := []string{door.CallerHeader, "node/n7", "Authorization", "Bearer " + operatorToken}
	if got := f.ask(follower, http.MethodPut, "/service/x", "", forged...); got.status != http.StatusOK {
		t.Fatalf("an operator: %d %s", got.status, got.body)
	}
	r := seen.Load()
	if who := callerOf(r); who.Kind != door.Operator {
		t.Errorf("the leader sees %s, want an operator", who)
	}
	for _, name := range []string{"X-Nomad-Token", "Authorization", door.CallerHeader} {
		if r.Header.Get(name) != "" {
			t.Errorf("the leader sees the header %s: %q", name, r.Header.Get(name))
		}
	}
	if got := r.Header.Get(forwardedHeader); got != "server by s2" {
		t.Errorf("the hops are %q", got)
	}
	// A node has only its own rights, on the follower and on the leader.
	agent := f.join("n1", pki.RoleNode, nil)
	client := &http.Client{Transport: agent.Transport()}
	for path, want := range map[string]int{"/v1/node/n1/heartbeat": http.StatusNotFound, "/v1/node/n2/heartbeat": http.StatusForbidden, "/service/x": http.StatusForbidden, "/v1/node/n1/heartbeat?as": http.StatusForbidden, "/service/x?as": http.StatusForbidden} {
		for _, m := range []*machine{follower, leader} {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodPut, "https://"+m.addr+path, nil)
			if strings.HasSuffix(path, "?as") {
				req.Header.Set(door.CallerHeader, "operator")
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != want && !(want == http.StatusNotFound && strings.Contains(string(text), "leader yet")) {
				t.Errorf("a node at %s, %s: %d %s, want %d", m.id, path, resp.StatusCode, text, want)
			}
		}
	}
}

func TestATokenThatANodeCannotCheckIsCheckedByAServer(t *testing.T) {
	f := newFleet(t)
	var done journal
	leader := f.server("s1", always, nil, done.serve)
	agent := f.join("n1", pki.RoleNode, nil, func(c *Config) {
		c.Servers = func() []string { return []string{leader.addr} }
		c.Door.IsOperator = nil
		c.Node = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			t.Error("the node answered a caller that only a server can check")
		})
		c.NodeID = func() string { return "n1" }
	})
	if got := f.ask(agent, http.MethodPut, "/service/x", "good"); got.status != http.StatusOK || done.count("good") != 1 {
		t.Errorf("an operator: %d %s", got.status, got.body)
	}
	for _, path := range []string{"/service/x", "/v1/node/n1/heartbeat", "/v1/client/stats", "/v1/agent/self", "/v1/metrics"} {
		for _, hop := range []string{"", "node", "node by s1"} {
			got := f.ask(agent, http.MethodGet, path, "", "X-Nomad-Token", "guess", forwardedHeader, hop)
			if got.status != http.StatusForbidden && got.status != http.StatusMethodNotAllowed {
				t.Errorf("a wrong token for %s: %d %s", path, got.status, got.body)
			}
		}
	}
}

func TestAgentsThatForwardToEachOtherStop(t *testing.T) { eachWay(t, agentsThatForwardToEachOtherStop) }

func agentsThatForwardToEachOtherStop(t *testing.T, f *fleet) {
	var a, b atomic.Pointer[machine]
	one, two := f.server("s1", never, at(&b), nil), f.server("s2", never, at(&a), nil)
	a.Store(one)
	b.Store(two)
	f.link(one, two)
	f.link(two, one)
	one.patience, two.patience = 20*time.Millisecond, 20*time.Millisecond
	got := f.ask(one, http.MethodPut, "/service/x", "one")
	if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "server by s1, to a server by s2") || !strings.Contains(got.body, "reached s1") {
		t.Errorf("got %d %s; want an error that names the hops", got.status, got.body)
	}
	n1 := f.join("n1", pki.RoleNode, nil, func(c *Config) { c.Servers = func() []string { return []string{one.addr} } })
	if got := f.ask(n1, http.MethodPut, "/service/x", "one"); got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "n1") {
		t.Errorf("through a node: %d %s", got.status, got.body)
	}
}

func TestStreamsPassThroughAServer(t *testing.T) {
	f := newFleet(t)
	next := make(chan string)
	var known atomic.Pointer[machine]
	known.Store(f.server("s1", always, nil, func(w http.ResponseWriter, r *http.Request) {
		for {
			select {
			case line := <-next:
				io.WriteString(w, line)
				http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}))
	follower := f.server("s2", never, at(&known), nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+follower.addr+"/service/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Nomad-Token", operatorToken)
	go func() { next <- "first\n" }()
	resp, err := f.user.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for _, want := range []string{"first\n", "second\n"} {
		got := make([]byte, len(want))
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
			t.Fatalf("got %q, %v; want %q", got, err, want)
		}
		if want == "first\n" {
			next <- "second\n"
		}
	}
	cancel()
	if _, err := io.ReadAll(resp.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("the stream ended with %v", err)
	}
}

func TestStaleReadsAreAnsweredByAnyServer(t *testing.T) {
	f := newFleet(t)
	s := f.server("s1", never, func() (string, bool) { return "", false }, nil)
	s.patience = 10 * time.Millisecond
	for path, want := range map[string]int{
		"/v1/jobs?stale": http.StatusOK, "/v1/jobs": http.StatusServiceUnavailable, "/v1/status/peers": http.StatusOK, "/v1/metrics": http.StatusOK,
	} {
		if got := f.ask(s, http.MethodGet, path, ""); got.status != want {
			t.Errorf("GET %s without a leader: %d %s, want %d", path, got.status, got.body, want)
		}
	}
	if got := f.ask(s, http.MethodPut, "/v1/system/gc?stale", ""); got.status != http.StatusServiceUnavailable {
		t.Errorf("a stale write: %d %s", got.status, got.body)
	}
}

func TestRequestsReachOnlyTheNodeThatTheyAreFor(t *testing.T) {
	f := newFleet(t)
	answer := func(c *Config) {
		c.Node = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%s for %s", c.Name, callerOf(r).Kind) })
		c.NodeID = func() string { return c.Name }
	}
	srv := newIdleServer(t)
	server := f.join("s1", pki.RoleServer, nil, func(c *Config) { c.Server = srv.Server })
	node := f.join("n1", pki.RoleNode, nil, answer)
	other := f.join("n2", pki.RoleNode, nil, answer)
	both := f.join("s2", pki.RoleServer, nil, answer) // a server and a node in one process
	for id, addr := range map[string]string{"n1": node.addr, "n3": other.addr, "n4": both.addr} {
		srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: id, Name: id, HTTPAddr: addr, Status: api.NodeStatusReady}})
	}
	for path, want := range map[string]string{
		"/v1/client/stats?node_id=n1": "n1 for server",
		"/v1/client/stats?node_id=n4": "s2 for server",
		"/v1/client/stats?node_id=n3": "node n2 answers at the address of node n3",
	} {
		if got := f.ask(server, http.MethodGet, path, ""); !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s, want %q", path, got.status, got.body, want)
		}
	}
}

// TestAReusedConnectionDoesNotRepeatAWrite breaks a connection that served a request before,
// on which net/http's transport repeats requests that have an idempotency key.
func TestAReusedConnectionDoesNotRepeatAWrite(t *testing.T) {
	var received atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if received.Add(1) > 1 {
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	agent := New(Config{Servers: func() []string { return []string{server.Listener.Addr().String()} }})
	defer agent.Close()
	for _, want := range []int{http.StatusOK, http.StatusServiceUnavailable} {
		r := httptest.NewRequest(http.MethodPut, "/v1/system/gc", nil)
		r.Header.Set("Idempotency-Key", "k")
		r.Header.Set("X-Idempotency-Key", "k")
		w := httptest.NewRecorder()
		agent.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("got %d %s, want %d", w.Code, w.Body, want)
		}
	}
	if n := received.Load(); n != 2 {
		t.Errorf("the server received %d requests, want 2", n)
	}
}

func TestAReadGivesUpOnALeaderThatBreaksEveryConnection(t *testing.T) {
	f := newFleet(t)
	var received atomic.Int64
	var known atomic.Pointer[machine]
	known.Store(f.server("s1", always, nil, breaks(&received)))
	third := f.server("s3", never, at(&known), nil)
	third.patience = 50 * time.Millisecond
	if got := f.ask(third, http.MethodGet, "/service/x", ""); got.status != http.StatusServiceUnavailable || received.Load() < 2 {
		t.Errorf("got %d %s after %d requests, want an error after several", got.status, got.body, received.Load())
	}
}

// TestAConnectionThatEndsBeforeTheRequestIsNoAttempt ends connections to a killed leader after
// their handshake, and before a request.
func TestAConnectionThatEndsBeforeTheRequestIsNoAttempt(t *testing.T) {
	f := newFleet(t)
	var done journal
	var known atomic.Pointer[machine]
	known.Store(f.server("s1", always, nil, done.serve))
	third := f.server("s3", never, at(&known), nil)
	through := third.Transport()
	ending := &endingConnections{RoundTripper: through}
	ending.left.Store(3)
	transport := &http.Transport{TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}} // without an HTTP/2 of its own
	transport.RegisterProtocol("https", ending)
	third.Config.Transport = func() *http.Transport { return transport }
	if got := f.ask(third, http.MethodPut, "/service/x", "one write"); got.status != http.StatusOK || done.count("one write") != 1 || ending.left.Load() >= 0 {
		t.Errorf("got %d %s; the leader received %d writes, want 1; %d connections were left to end", got.status, got.body, done.count("one write"), ending.left.Load())
	}
}

// endingConnections fails the first requests as HTTP/2 does if a connection ends before it
// carries one.
type endingConnections struct {
	http.RoundTripper
	left atomic.Int64
}

func (e *endingConnections) RoundTrip(r *http.Request) (*http.Response, error) {
	if e.left.Add(-1) < 0 {
		return e.RoundTripper.RoundTrip(r)
	}
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{})
	}
	return nil, errors.New("the connection could not be established")
}
