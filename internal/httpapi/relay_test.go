// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/relay"
	"github.com/reeve-run/reeve/internal/testbed/wait"
	"github.com/reeve-run/reeve/internal/trust"
)

const relayProtocol = "reeve-relay/1"

// relays holds the addresses at which the servers of a fleet accept relayed writes, by the
// address of their API.
type relays struct {
	mu      sync.Mutex
	address map[string]string
}

// eachWay calls f with a fleet that forwards by HTTP, and with one that relays writes.
func eachWay(t *testing.T, f func(*testing.T, *fleet)) {
	t.Run("http", func(t *testing.T) { f(t, newFleet(t)) })
	t.Run("relay", func(t *testing.T) { f(t, newRelayFleet(t)) })
}

func newRelayFleet(t *testing.T) *fleet {
	t.Helper()
	f := newFleet(t)
	f.relays = &relays{address: map[string]string{}}
	return f
}

// relayClient returns the client of a server.
func (f *fleet) relayClient(store *trust.Store) *relay.Client {
	dialer := &tls.Dialer{Config: store.ClientConfig(relayProtocol)}
	c := relay.NewClient(func(ctx context.Context, address string) (net.Conn, error) {
		f.relays.mu.Lock()
		to := f.relays.address[address]
		f.relays.mu.Unlock()
		if to == "" {
			return nil, fmt.Errorf("%s is no server of the fleet", address)
		}
		return dialer.DialContext(ctx, "tcp", to)
	})
	f.t.Cleanup(c.Close)
	return c
}

// relay accepts relayed writes for a machine.
func (f *fleet) relay(m *machine, store *trust.Store) {
	f.t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", store.ServerConfig(relayProtocol))
	if err != nil {
		f.t.Fatal(err)
	}
	f.relays.mu.Lock()
	f.relays.address[m.addr] = l.Addr().String()
	f.relays.mu.Unlock()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		relay.NewServer(m.Handler, nil).Run(ctx, shaken{l})
	}()
	f.t.Cleanup(func() {
		stop()
		<-done
	})
}

// shaken is a listener whose connections have completed their handshake, as those of package port.
type shaken struct{ net.Listener }

func (l shaken) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		conn.(*tls.Conn).HandshakeContext(context.Background())
	}
	return conn, err
}

// link returns when one server can relay writes to another one.
func (f *fleet) link(from, to *machine) {
	f.t.Helper()
	if f.relays == nil {
		return
	}
	wait.Until(f.t, from.id+" can relay writes to "+to.id, func() bool {
		r, err := http.NewRequestWithContext(f.t.Context(), http.MethodPut, "https://"+to.addr+"/nowhere", nil)
		if err != nil {
			f.t.Fatal(err)
		}
		_, _, err = from.Relay.RoundTrip(r, to.addr, nil)
		return !errors.Is(err, relay.ErrNoLink)
	})
}

// TestSmallWritesAreRelayed and everything else is forwarded by HTTP.
func TestSmallWritesAreRelayed(t *testing.T) {
	f := newRelayFleet(t)
	var protocol atomic.Pointer[string]
	var known atomic.Pointer[machine]
	leader := f.server("s1", always, nil, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		by := "http"
		if r.RemoteAddr != "" && strings.Contains(fmt.Sprintf("%T", w), "relay") {
			by = "relay"
		}
		protocol.Store(&by)
		w.Header().Set("X-Nomad-Index", "7")
		w.WriteHeader(http.StatusCreated)
		w.Write(body)
	})
	known.Store(leader)
	follower := f.server("s2", never, at(&known), nil)
	f.link(follower, leader)
	for _, c := range []struct {
		method, body string
		want         string
	}{
		{method: http.MethodPut, body: "one", want: "relay"},
		{method: http.MethodPost, want: "relay"},
		{method: http.MethodDelete, want: "relay"},
		{method: http.MethodPut, body: strings.Repeat("x", relay.MaxBody), want: "relay"},
		{method: http.MethodPut, body: strings.Repeat("x", relay.MaxBody+1), want: "http"},
		{method: http.MethodGet, want: "http"},
	} {
		got := f.ask(follower, c.method, "/service/x", c.body)
		if got.status != http.StatusCreated || got.body != c.body || got.header.Get("X-Nomad-Index") != "7" {
			t.Errorf("%s with %d bytes: got %d, index %q, %d bytes", c.method, len(c.body), got.status, got.header.Get("X-Nomad-Index"), len(got.body))
		}
		if by := *protocol.Load(); by != c.want {
			t.Errorf("%s with %d bytes came by %s, want %s", c.method, len(c.body), by, c.want)
		}
	}
}

// TestABodyThatEndsEarlyIsNotForwarded sends less than the header announces.
func TestABodyThatEndsEarlyIsNotForwarded(t *testing.T) {
	f := newRelayFleet(t)
	var done journal
	var known atomic.Pointer[machine]
	leader := f.server("s1", always, nil, done.serve)
	known.Store(leader)
	follower := f.server("s2", never, at(&known), nil)
	f.link(follower, leader)
	conn, err := tls.Dial("tcp", follower.addr, trust.UnverifiedConfig("http/1.1"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(conn, "PUT /service/x HTTP/1.1\r\nHost: x\r\nX-Nomad-Token: %s\r\nContent-Length: 10\r\n\r\nhalf", operatorToken)
	conn.CloseWrite()
	if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil && resp.StatusCode == http.StatusOK {
		t.Errorf("half a body was answered with %s", resp.Status)
	}
	if n := done.count("half"); n > 0 {
		t.Errorf("half a body was forwarded")
	}
}

// TestAStrangerRelaysNothing sends a forged caller as an unknown client.
func TestAStrangerRelaysNothing(t *testing.T) {
	f := newRelayFleet(t)
	var done journal
	leader := f.server("s1", always, nil, done.serve)
	c := relay.NewClient(func(ctx context.Context, _ string) (net.Conn, error) {
		return (&tls.Dialer{Config: trust.UnverifiedConfig(relayProtocol)}).DialContext(ctx, "tcp", f.relays.address[leader.addr])
	})
	defer c.Close()
	wait.Until(t, "the stranger has a connection", func() bool {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPut, "https://"+leader.addr+"/service/x", nil)
		r.Header.Set("X-Reeve-Caller", "operator")
		resp, _, err := c.RoundTrip(r, leader.addr, []byte("forged"))
		if err == nil && resp.StatusCode != http.StatusForbidden {
			t.Errorf("a forged caller got %d", resp.StatusCode)
		}
		return err == nil
	})
	if n := done.count("forged"); n > 0 {
		t.Error("a write of a stranger was done")
	}
}
