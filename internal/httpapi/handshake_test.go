// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// running stores an allocation of a job that is called like it, on a node of this agent.
func (s *idleServer) running(t *testing.T, node *api.Node, job, id string) {
	t.Helper()
	s.apply(t, &state.RegisterJob{Job: storedJob(job)})
	stored := s.Store().Snapshot().Job("default", job)
	node.Name, node.Status = "n", api.NodeStatusReady
	s.apply(t, &state.RegisterNode{Node: node}, &state.CommitPlacement{Placement: &state.Placement{Job: stored, Time: 1, Place: []*api.Allocation{{
		ID: id, Namespace: "default", JobID: job, Job: stored, NodeID: node.ID, Name: job + ".web[0]", Group: "web",
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning,
	}}}})
}

// newDoored is the address of an agent with the allocation aaaaaaaa, where only doorToken opens.
func newDoored(t *testing.T) string {
	t.Helper()
	srv := newIdleServer(t)
	srv.running(t, &api.Node{ID: localNode}, "web", "aaaaaaaa")
	c := serve(t, New(Config{
		Server: srv.Server, Node: echoNode("local"), NodeID: func() string { return localNode }, Door: doorFor(t, door.Process{UID: 65534}),
	}))
	return c.Address()
}

const browserExec = "/v1/client/allocation/aaaaaaaa/exec?task=main&tty=false&command=%5B%22cat%22%5D&ws_handshake=true"

// open opens a session as a page does: without a token in the header.
func open(t *testing.T, address, path string, header http.Header) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	conn, resp, err := websocket.Dial(t.Context(), address+path, &websocket.DialOptions{HTTPHeader: header})
	if err == nil {
		t.Cleanup(func() { conn.CloseNow() })
	}
	return conn, resp, err
}

// echoed says hello, and returns what came until the exit, and the exit code.
func echoed(t *testing.T, conn *websocket.Conn) (string, int) {
	t.Helper()
	if err := wsjson.Write(t.Context(), conn, api.ExecInput{Stdin: &api.ExecIO{Data: []byte("hello"), Close: true}}); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for {
		var out api.ExecOutput
		if err := wsjson.Read(t.Context(), conn, &out); err != nil {
			t.Fatalf("after %q: %v", text.String(), err)
		}
		if out.Stdout != nil {
			text.Write(out.Stdout.Data)
		}
		if out.Exited {
			return text.String(), out.Result.ExitCode
		}
	}
}

func TestABrowsersFirstMessageHasTheToken(t *testing.T) {
	address := newDoored(t)
	conn, _, err := open(t, address, browserExec, http.Header{"Origin": {address}, "Sec-Fetch-Site": {"same-origin"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{"version":1,"auth_token":"`+doorToken+`"}`)); err != nil {
		t.Fatal(err)
	}
	if text, code := echoed(t, conn); text != "HELLO" || code != 7 {
		t.Errorf("got %q and exit %d, want HELLO and 7", text, code)
	}
}

// TestTheTokenInAMessageIsCheckedLikeAHeader sends first messages that open nothing.
func TestTheTokenInAMessageIsCheckedLikeAHeader(t *testing.T) {
	address := newDoored(t)
	for what, c := range map[string]struct {
		path, message string
		code          websocket.StatusCode
		reason        string
	}{
		"a wrong token":             {browserExec, `{"version":1,"auth_token":"other"}`, 4403, "token"},
		"no token":                  {browserExec, `{"version":1,"auth_token":""}`, 4403, ""},
		"no such allocation":        {strings.Replace(browserExec, "aaaaaaaa", "bbbbbbbb", 1), `{"version":1,"auth_token":"` + doorToken + `"}`, 4404, "not found"},
		"another version":           {browserExec, `{"version":2,"auth_token":"` + doorToken + `"}`, websocket.StatusPolicyViolation, "version"},
		"no JSON":                   {browserExec, doorToken, websocket.StatusPolicyViolation, "auth_token"},
		"a list":                    {browserExec, `[1]`, websocket.StatusPolicyViolation, "auth_token"},
		"input instead":             {browserExec, `{"stdin":{"data":"aGVsbG8="}}`, websocket.StatusPolicyViolation, "auth_token"},
		"a header in the token":     {browserExec, `{"version":1,"auth_token":"x\r\nX-Reeve-Caller: operator"}`, websocket.StatusPolicyViolation, "auth_token"},
		"a message without a limit": {browserExec, `{"version":1,"auth_token":"` + strings.Repeat("x", 1<<20) + `"}`, websocket.StatusMessageTooBig, ""},
	} {
		conn, _, err := open(t, address, c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		conn.Write(t.Context(), websocket.MessageText, []byte(c.message)) // may be refused before its end
		var closed websocket.CloseError
		_, data, err := conn.Read(t.Context())
		if !errors.As(err, &closed) || closed.Code != c.code || !strings.Contains(closed.Reason, c.reason) {
			t.Errorf("%s: got %q, %v; want close code %d with %q", what, data, err, c.code, c.reason)
		}
	}
}

// TestAPageOfAnotherSiteBeginsNoSession also covers a page that knows a token, and tools that ask for a
// handshake where none belongs.
func TestAPageOfAnotherSiteBeginsNoSession(t *testing.T) {
	address := newDoored(t)
	for what, header := range map[string]http.Header{
		"another origin":   {"Origin": {"https://evil.example"}},
		"another site":     {"Sec-Fetch-Site": {"cross-site"}},
		"a page of a port": {"Origin": {"http://127.0.0.1:1"}, "Sec-Fetch-Site": {"same-site"}},
	} {
		if _, resp, err := open(t, address, browserExec, header); err == nil || resp == nil || resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %v, want 403 before the first message", what, err)
		}
	}
	for _, path := range []string{"/v1/event/stream?ws_handshake=true", strings.Replace(browserExec, "ws_handshake=true", "", 1), strings.Replace(browserExec, "=true", "=no", 1)} {
		if _, resp, err := open(t, address, path, nil); err == nil || resp == nil || resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %v, want 403, as without a token", path, err)
		}
	}
}

func TestHandshakesAreBounded(t *testing.T) {
	var s handshakes
	one, other := netip.MustParsePrefix("10.0.0.1/32"), netip.MustParsePrefix("10.0.0.2/32")
	for i := range maxHandshakesOfOne {
		if !s.enter(one) {
			t.Fatalf("handshake %d of one network: refused", i)
		}
	}
	if s.enter(one) {
		t.Error("one network has more handshakes than it may")
	}
	if !s.enter(other) {
		t.Error("one network keeps another from its handshake")
	}
	for range maxHandshakesOfOne {
		s.leave(one)
	}
	s.leave(other)
	if s.all != 0 || len(s.from) != 0 {
		t.Errorf("after the end of all: %d handshakes of %d networks", s.all, len(s.from))
	}
	for i := range maxHandshakes {
		if !s.enter(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), 32)) {
			t.Fatalf("handshake %d: refused", i)
		}
	}
	if s.enter(other) {
		t.Error("there are more handshakes than there may be")
	}
}

// memory is a network of agents without a machine's sockets, so that time can be virtual.
type memory struct {
	mu     sync.Mutex
	agents map[string]*pipeListener
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

func (m *memory) dial(ctx context.Context, _, address string) (net.Conn, error) {
	m.mu.Lock()
	l := m.agents[address]
	m.mu.Unlock()
	if l == nil {
		return nil, errors.New("no agent at " + address)
	}
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serve serves a handler at an address, and lets it reach the others.
func (m *memory) serve(t *testing.T, address string, h *Handler) {
	t.Helper()
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	m.mu.Lock()
	m.agents[address] = l
	m.mu.Unlock()
	h.transport.DialContext = m.dial
	s := NewServer(h, h.Logger)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(l)
	}()
	t.Cleanup(func() {
		h.Close()
		s.Close()
		<-done
	})
}

// TestAQuietSessionLasts waits for hours without a message from either side: through an agent without
// a server, a server, and the node's agent.
func TestAQuietSessionLasts(t *testing.T) {
	for what, path := range map[string]string{"a tool": strings.Replace(browserExec, "&ws_handshake=true", "", 1), "a browser": browserExec} {
		t.Run(what, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				m := &memory{agents: map[string]*pipeListener{}}
				srv := newIdleServer(t)
				srv.running(t, &api.Node{ID: remoteNode, HTTPAddr: "node:1"}, "web", "aaaaaaaa")
				m.serve(t, "node:1", New(Config{Node: echoNode("remote"), NodeID: func() string { return remoteNode }}))
				m.serve(t, "server:1", New(Config{Server: srv.Server}))
				m.serve(t, "edge:1", New(Config{NodeID: func() string { return localNode }, Node: echoNode("edge"), Servers: func() []string { return []string{"server:1"} }}))
				transport := &http.Transport{DialContext: m.dial}
				defer transport.CloseIdleConnections()
				conn, _, err := websocket.Dial(t.Context(), "http://edge:1"+path, &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
				if err != nil {
					t.Fatal(err)
				}
				defer conn.CloseNow()
				if path == browserExec {
					if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{"version":1,"auth_token":""}`)); err != nil {
						t.Fatal(err)
					}
				}
				bubble.Pass(6 * time.Hour)
				if text, code := echoed(t, conn); text != "HELLO" || code != 7 {
					t.Errorf("got %q and exit %d, want HELLO and 7", text, code)
				}
				conn.Close(websocket.StatusNormalClosure, "")
				synctest.Wait()
			})
		})
	}
}

// TestAHandshakeHasToArriveSoon opens a connection and says nothing.
func TestAHandshakeHasToArriveSoon(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m := &memory{agents: map[string]*pipeListener{}}
		h := New(Config{NodeID: func() string { return localNode }, Node: echoNode("edge")})
		m.serve(t, "edge:1", h)
		transport := &http.Transport{DialContext: m.dial}
		defer transport.CloseIdleConnections()
		conn, _, err := websocket.Dial(t.Context(), "http://edge:1"+browserExec, &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.CloseNow()
		began := time.Now()
		if _, _, err := conn.Read(t.Context()); err == nil {
			t.Error("the agent sent a message")
		}
		if took := time.Since(began); took > 2*handshakePatience {
			t.Errorf("the session ended after %v, want %v", took, handshakePatience)
		}
		bubble.Pass(time.Minute)
		if h.handshakes.all != 0 {
			t.Errorf("%d handshakes remain", h.handshakes.all)
		}
	})
}

// TestASessionAsksForTheTokensRights uses the client for what a header does, beside the message.
func TestASessionAsksForTheTokensRights(t *testing.T) {
	h := newHarness(t, withUsers(t), func(c *Config) {
		c.Node, c.NodeID = echoNode("local"), func() string { return localNode }
	})
	h.policy("readers", `namespace "default" { policy = "read" }`)
	reader, _ := h.user("readers")
	manager, _ := h.user()
	for token, want := range map[string]websocket.StatusCode{reader.header[1]: 4403, manager.header[1]: 4404, "reeve-user-1-no-such": 4403} {
		conn, _, err := open(t, h.http.URL, browserExec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := wsjson.Write(t.Context(), conn, map[string]any{"version": 1, "auth_token": token}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != want {
			t.Errorf("%.16s: %v, want close code %d", token, err, want)
		}
	}
	c, err := client.New(client.Config{Address: h.http.URL, Token: reader.header[1]})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Allocations().Exec(t.Context(), "aaaaaaaa", client.Exec{Task: "main", Command: []string{"cat"}}); api.CodeOf(err) != api.CodeForbidden {
		t.Errorf("with a header: %v, want forbidden", err)
	}
}
