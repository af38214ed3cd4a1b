// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package uiproxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stranger is a user of the machine other than the one who runs the tests.
const stranger = 4711

// serve runs a proxy for an agent until the test ends.
func serve(t *testing.T, c Config) *Proxy {
	t.Helper()
	if c.UserOf == nil {
		c.UserOf = func(netip.AddrPort, netip.AddrPort) (uint32, error) { return uint32(os.Geteuid()), nil }
	}
	p, err := Listen(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return p
}

// agentOf returns the configuration of a proxy for an agent that a handler answers for, by TLS.
func agentOf(t *testing.T, h http.HandlerFunc) Config {
	t.Helper()
	agent := httptest.NewTLSServer(h)
	t.Cleanup(agent.Close)
	target, err := url.Parse(agent.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := agent.Client().Transport.(*http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	return Config{Target: target, Transport: transport}
}

// do sends a request, with headers given as names and values.
func do(t *testing.T, method, address string, header ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	req.Host = req.Header.Get("Host")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

func TestRequestsReachTheAgentWithoutRights(t *testing.T) {
	var got *http.Request
	p := serve(t, agentOf(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		w.Header().Set("X-Frame-Options", "DENY")
		io.WriteString(w, "page")
	}))
	status, header, body := do(t, http.MethodPost, p.Address()+"/v1/job/a%2Fb?namespace=x", "Origin", p.Address(), "Sec-Fetch-Site", "same-origin",
		"Cookie", "token=secret", "X-Nomad-Token", "of the browser", "X-Reeve-Caller", "operator", "X-Forwarded-For", "10.0.0.1", "Accept-Encoding", "gzip")
	if status != http.StatusOK || body != "page" || header.Get("X-Frame-Options") != "DENY" {
		t.Fatalf("%d %v %q", status, header, body)
	}
	if got.URL.EscapedPath() != "/v1/job/a%2Fb" || got.URL.RawQuery != "namespace=x" || got.Method != http.MethodPost {
		t.Errorf("the agent is asked for %s %s", got.Method, got.URL)
	}
	for name, want := range map[string]string{
		"X-Nomad-Token": "of the browser", "X-Reeve-Caller": door.OfOthers, "Origin": "", "Cookie": "", "Sec-Fetch-Site": "", "X-Forwarded-For": "", "Accept-Encoding": "gzip",
	} {
		if value := strings.Join(got.Header.Values(name), "|"); value != want {
			t.Errorf("the agent gets %s %q, want %q", name, value, want)
		}
	}
	if len(got.TLS.PeerCertificates) > 0 || strings.Contains(got.Host, strings.TrimPrefix(p.Address(), "http://")) {
		t.Errorf("the agent sees host %s and %d certificates", got.Host, len(got.TLS.PeerCertificates))
	}
}

func TestStrangersAreRefused(t *testing.T) {
	reached := false
	config := agentOf(t, func(http.ResponseWriter, *http.Request) { reached = true })
	p := serve(t, config)
	own := strings.TrimPrefix(p.Address(), "http://")
	_, port, _ := net.SplitHostPort(own)
	for what, header := range map[string][]string{
		"another name":           {"Host", "evil.example"},
		"another name, port":     {"Host", "evil.example:" + port},
		"no port":                {"Host", "127.0.0.1"},
		"another port":           {"Host", "127.0.0.1:1"},
		"another address":        {"Host", "10.0.0.1:" + port},
		"a name with our name":   {"Host", own + ".evil.example"},
		"a page elsewhere":       {"Origin", "https://evil.example"},
		"a page of a file":       {"Origin", "null"},
		"a page on another port": {"Origin", "http://127.0.0.1:1"},
		"a page by its site":     {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"},
		"a page beside":          {"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors"},
	} {
		for _, path := range []string{"/ui/", "/v1/jobs", "/", p.start.path} {
			status, got, body := do(t, http.MethodGet, p.Address()+path, header...)
			if status != http.StatusForbidden || got.Get("X-Content-Type-Options") != "nosniff" || got.Get("X-Frame-Options") != "DENY" {
				t.Errorf("%s: GET %s: %d %s", what, path, status, body)
			}
		}
	}
	for what, userOf := range map[string]func(netip.AddrPort, netip.AddrPort) (uint32, error){
		"another user": func(netip.AddrPort, netip.AddrPort) (uint32, error) { return stranger, nil },
		"nobody known": func(netip.AddrPort, netip.AddrPort) (uint32, error) { return 0, errors.New("it is closed") },
	} {
		other := config
		other.UserOf = userOf
		q := serve(t, other)
		if status, _, body := do(t, http.MethodGet, q.Address()+"/ui/"); status != http.StatusForbidden {
			t.Errorf("%s: %d %s", what, status, body)
		}
	}
	if reached {
		t.Error("a request of a stranger reached the agent")
	}
	if status, _, body := do(t, http.MethodGet, p.Address()+"/ui/", "Host", "localhost:"+port); status != http.StatusOK {
		t.Errorf("localhost: %d %s", status, body)
	}
}

func TestTheKernelKnowsTheUser(t *testing.T) {
	p, err := Listen(Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Serve(ctx) }()
	to, opened := p.Start("http://127.0.0.1:1/ui/#code=secret")
	if status, header, body := do(t, http.MethodGet, to); status != http.StatusSeeOther || header.Get("Location") != "http://127.0.0.1:1/ui/#code=secret" {
		t.Errorf("%d %v %s", status, header, body)
	}
	<-opened
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func TestOtherPathsAreNotForwarded(t *testing.T) {
	p := serve(t, agentOf(t, func(w http.ResponseWriter, r *http.Request) { t.Errorf("%s reached the agent", r.URL) }))
	for _, path := range []string{"/nelson/", "/service/x", "/uix", "/v1", "/.well-known/jwks.json", "/start/", "/start/guess"} {
		if status, _, body := do(t, http.MethodGet, p.Address()+path); status != http.StatusNotFound || !strings.Contains(body, "reeve ui") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	for _, target := range []string{"http://evil.example/v1/jobs", "//evil.example/v1/jobs", "*"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(p.Address(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", target, strings.TrimPrefix(p.Address(), "http://"))
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		conn.Close()
		if resp.StatusCode < 400 {
			t.Errorf("GET %s: %d", target, resp.StatusCode)
		}
	}
}

func TestAStartWorksOnce(t *testing.T) {
	p := serve(t, Config{})
	if status, _, body := do(t, http.MethodGet, p.Address()+p.start.path); status != http.StatusForbidden {
		t.Errorf("before there is an address: %d %s", status, body)
	}
	to, opened := p.Start("https://10.0.0.1:4646/ui/#code=x")
	if status, _, _ := do(t, http.MethodPost, to); status != http.StatusBadRequest {
		t.Errorf("POST: %d", status)
	}
	status, header, _ := do(t, http.MethodGet, to)
	if status != http.StatusSeeOther || header.Get("Location") != "https://10.0.0.1:4646/ui/#code=x" || header.Get("Cache-Control") != "no-store" || header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("%d %v", status, header)
	}
	<-opened
	if status, header, body := do(t, http.MethodGet, to); status != http.StatusForbidden || header.Get("Location") != "" || !strings.Contains(body, "reeve ui") {
		t.Errorf("again: %d %v %s", status, header, body)
	}
	if status, _, _ := do(t, http.MethodGet, p.Address()+"/v1/jobs"); status != http.StatusNotFound {
		t.Errorf("without a target: %d", status)
	}
}

// A slowConn is a connection in memory that takes a moment for each write.
type slowConn struct{ net.Conn }

func (c slowConn) Write(p []byte) (int, error) {
	time.Sleep(endPatience / 10)
	return c.Conn.Write(p)
}

func (slowConn) LocalAddr() net.Addr  { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }
func (slowConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5000} }

// A pipeListener accepts connections in memory.
type pipeListener struct {
	net.Listener
	conns chan net.Conn
	ended chan struct{}
	once  sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.ended:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.ended) })
	return nil
}

// TestAStartIsAnsweredBeforeTheEnd ends the proxy as soon as a browser asks for its address.
func TestAStartIsAnsweredBeforeTheEnd(t *testing.T) {
	p, err := Listen(Config{UserOf: func(netip.AddrPort, netip.AddrPort) (uint32, error) { return 0, nil }})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	bubble.Test(t, func(t *testing.T) {
		p.start = newStart()
		l := &pipeListener{conns: make(chan net.Conn, 1), ended: make(chan struct{})}
		browser, server := net.Pipe()
		defer browser.Close()
		l.conns <- slowConn{server}
		to, opened := p.Start("http://127.0.0.1:1/ui/")
		p.listener = l
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-opened; cancel() }()
		ended := make(chan error, 1)
		go func() { ended <- p.Serve(ctx) }()
		u, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(browser, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", u.Path, u.Host)
		resp, err := http.ReadResponse(bufio.NewReader(browser), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusSeeOther {
			t.Errorf("%d", resp.StatusCode)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestStreamsArriveAtOnce(t *testing.T) {
	next := make(chan string)
	p := serve(t, agentOf(t, func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).Flush()
		for line := range next {
			io.WriteString(w, line)
			http.NewResponseController(w).Flush()
		}
	}))
	resp, err := http.Get(p.Address() + "/v1/event/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewReader(resp.Body)
	for _, want := range []string{"one\n", "two\n"} {
		next <- want
		if got, err := lines.ReadString('\n'); got != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	close(next)
}

func TestWebsocketsPass(t *testing.T) {
	p := serve(t, agentOf(t, func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		kind, text, err := conn.Read(r.Context())
		if err == nil {
			err = conn.Write(r.Context(), kind, append([]byte("heard "), text...))
		}
		if err != nil {
			t.Error(err)
		}
		conn.Close(websocket.StatusNormalClosure, "done")
	}))
	address := strings.Replace(p.Address(), "http://", "ws://", 1) + "/v1/client/allocation/a/exec"
	conn, _, err := websocket.Dial(t.Context(), address, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {p.Address()}}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte("ls")); err != nil {
		t.Fatal(err)
	}
	if _, text, err := conn.Read(t.Context()); string(text) != "heard ls" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, _, err := websocket.Dial(t.Context(), address, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"http://evil.example"}}}); err == nil {
		t.Error("a page of another site opens a websocket")
	}
}

func TestAnAgentThatDoesNotAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := &url.URL{Scheme: "https", Host: l.Addr().String()}
	l.Close()
	p := serve(t, Config{Target: target, Transport: &http.Transport{}})
	status, header, body := do(t, http.MethodGet, p.Address()+"/v1/jobs", "Accept", "application/json")
	if status != http.StatusServiceUnavailable || header.Get("Content-Type") != "application/json" || !strings.Contains(body, "no server of the cluster answers") {
		t.Errorf("%d %v %s", status, header, body)
	}
}

func TestAPortInUse(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = Listen(Config{Port: l.Addr().(*net.TCPAddr).Port})
	if err == nil || !strings.Contains(err.Error(), "choose another port with -port") {
		t.Errorf("%v", err)
	}
}
