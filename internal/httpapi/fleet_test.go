// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/trust"
)

// A fleet is a cluster of handlers that talk to each other over TLS.
type fleet struct {
	t      *testing.T
	ca     *pki.Authority
	user   *http.Client
	relays *relays // nil: no writes are relayed
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	ca, err := pki.NewAuthority("cluster-1", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	transport := NewTransport(trust.UnverifiedConfig("h2", "http/1.1"))
	t.Cleanup(transport.CloseIdleConnections)
	return &fleet{t: t, ca: ca, user: &http.Client{Transport: transport}}
}

// A machine is one handler of a fleet, at an address.
type machine struct {
	*Handler
	id   string
	addr string
	http *httptest.Server
}

// join adds a machine whose handler change configures. Its dialect below /service/ is served
// by serve.
func (f *fleet) join(id string, role pki.Role, serve http.HandlerFunc, change ...func(*Config)) *machine {
	f.t.Helper()
	store, err := trust.Open(f.t.TempDir())
	if err != nil {
		f.t.Fatal(err)
	}
	csr, _, err := store.Prepare(id)
	if err != nil {
		f.t.Fatal(err)
	}
	leaf := pki.Leaf{ID: id, Role: role, ClusterID: "cluster-1", Region: "global", Address: "127.0.0.1:4646", Lifetime: 24 * time.Hour}
	certificate, err := f.ca.Sign(csr, leaf, time.Now())
	if err != nil {
		f.t.Fatal(err)
	}
	if err := store.Enter(trust.Member{ID: id, Role: role, ClusterID: "cluster-1"}, certificate, f.ca.CertPEM()); err != nil {
		f.t.Fatal(err)
	}
	c := Config{Name: id, Self: func() string { return id }}
	c.Dialects = []Dialect{{Claims: func(u *url.URL) bool { return strings.HasPrefix(u.Path, "/service/") }}}
	if serve != nil {
		c.Dialects[0].Handler = serve
	}
	c.Door, err = door.New(door.Config{
		Token: doorToken, Peer: store.Peer, IsOperator: func(token string) bool { return token == operatorToken },
		Identify: func(_, _ netip.AddrPort) (door.Process, error) { return door.Process{UID: 65534}, nil },
	})
	if err != nil {
		f.t.Fatal(err)
	}
	transport := NewTransport(store.ClientConfig("h2", "http/1.1"))
	c.Transport = func() *http.Transport { return transport }
	if f.relays != nil && role == pki.RoleServer {
		c.Relay = f.relayClient(store)
	}
	for _, change := range change {
		change(&c)
	}
	m := &machine{Handler: New(c), id: id}
	m.patience = 2 * time.Second
	m.http = httptest.NewUnstartedServer(m.Handler)
	m.http.Config.ConnContext = c.Door.Mark
	m.http.EnableHTTP2 = true
	m.http.Config.ErrorLog = log.New(io.Discard, "", 0)
	m.http.TLS = store.ServerConfig("h2", "http/1.1")
	m.http.StartTLS()
	m.addr = m.http.Listener.Addr().String()
	if f.relays != nil && role == pki.RoleServer {
		f.relay(m, store)
	}
	f.t.Cleanup(func() {
		transport.CloseIdleConnections()
		m.http.CloseClientConnections()
		m.http.Close()
		m.Close()
	})
	return m
}

// server adds a server that leads as long as leads says, and knows the leader that leader
// returns.
func (f *fleet) server(id string, leads func() bool, leader func() (string, bool), serve http.HandlerFunc) *machine {
	f.t.Helper()
	if serve == nil {
		serve = func(w http.ResponseWriter, _ *http.Request) { f.t.Errorf("%s answers itself", id) }
	}
	m := f.join(id, pki.RoleServer, serve, func(c *Config) { c.Server, c.Leader = newIdleServer(f.t).Server, leader })
	m.leads = leads
	return m
}

func never() bool  { return false }
func always() bool { return true }

// at returns the leader's address that a variable has.
func at(m *atomic.Pointer[machine]) func() (string, bool) {
	return func() (string, bool) {
		if now := m.Load(); now != nil {
			return now.addr, true
		}
		return "", false
	}
}

// ask sends a request of an operator to a machine.
func (f *fleet) ask(m *machine, method, path, body string, header ...string) answer {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), method, "https://"+m.addr+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("X-Nomad-Token", operatorToken)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := f.user.Do(r)
	if err != nil {
		f.t.Errorf("%s %s: %v", method, path, err)
		return answer{}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Errorf("%s %s: %v", method, path, err)
	}
	return answer{resp.StatusCode, resp.Header, string(text)}
}

// A journal is what the leaders of a cluster did.
type journal struct {
	mu    sync.Mutex
	times map[string]int // by request
}

// serve notes each request by its body.
func (j *journal) serve(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	j.mu.Lock()
	if j.times == nil {
		j.times = map[string]int{}
	}
	j.times[string(text)]++
	j.mu.Unlock()
	fmt.Fprintf(w, "did %s", text)
}

func (j *journal) count(request string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.times[request]
}
