// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// A site is one of several real servers that agree, behind its own API. Tests cut it off.
type site struct {
	*machine
	srv       *server.Server
	transport *raft.InmemTransport
	group     *sites
}

// sites are the servers of a cluster.
type sites struct {
	*fleet
	all []*site

	mu    sync.Mutex
	addrs map[string]string      // of the APIs, by the id of the server
	cut   map[string]bool        // servers that reach no other one
	conns map[net.Conn][2]string // between servers
}

// newSites starts three servers, whose API waits up to patience for a leader.
func newSites(t *testing.T, patience time.Duration) *sites {
	t.Helper()
	g := &sites{fleet: newFleet(t), addrs: map[string]string{}, cut: map[string]bool{}, conns: map[net.Conn][2]string{}}
	for i := range 3 {
		g.start(fmt.Sprint("server-", i), patience)
	}
	return g
}

func (g *sites) start(id string, patience time.Duration) {
	g.t.Helper()
	_, transport := raft.NewInmemTransportWithTimeout(raft.ServerAddress(id), 100*time.Millisecond)
	for _, other := range g.all {
		transport.Connect(raft.ServerAddress(other.id), other.transport)
		other.transport.Connect(raft.ServerAddress(id), transport)
	}
	srv, err := server.New(server.Config{
		DataDir: g.t.TempDir(), ServerID: id, Addr: id, Transport: transport, Bootstrap: len(g.all) == 0,
		Logger: slog.New(slog.DiscardHandler), Workers: 2, ElectionTimeout: 300 * time.Millisecond,
	})
	if err != nil {
		g.t.Fatal(err)
	}
	s := &site{srv: srv, transport: transport, group: g}
	if len(g.all) > 0 {
		if err := g.leader().srv.Replica().AddVoter(g.t.Context(), id, id); err != nil {
			g.t.Fatal(err)
		}
	}
	if err := srv.Start(g.t.Context()); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		if err := srv.Shutdown(context.Background()); err != nil {
			g.t.Error(err)
		}
	})
	s.machine = g.join(id, pki.RoleServer, nil, func(c *Config) {
		c.Server = srv
		c.Leader = func() (string, bool) { return g.addressOf(srv.Leader()) }
		own := c.Transport()
		dial := own.DialContext
		own.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			return g.dial(ctx, id, network, addr, dial)
		}
	})
	s.patience = patience
	g.mu.Lock()
	g.addrs[id] = s.addr
	g.mu.Unlock()
	g.all = append(g.all, s)
}

func (g *sites) addressOf(id string) (string, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	addr := g.addrs[id]
	return addr, addr != ""
}

// dial connects two servers unless one of them is cut off.
func (g *sites) dial(ctx context.Context, from, network, addr string, dial func(context.Context, string, string) (net.Conn, error)) (net.Conn, error) {
	g.mu.Lock()
	to := ""
	for id, at := range g.addrs {
		if at == addr {
			to = id
		}
	}
	isCut := g.cut[from] || g.cut[to]
	g.mu.Unlock()
	if isCut {
		return nil, net.ErrClosed
	}
	conn, err := dial(ctx, network, addr)
	if err == nil {
		g.mu.Lock()
		g.conns[conn] = [2]string{from, to}
		g.mu.Unlock()
	}
	return conn, err
}

// isolate cuts a server off from the others. Clients still reach it.
func (g *sites) isolate(s *site) {
	g.mu.Lock()
	g.cut[s.id] = true
	for conn, ends := range g.conns {
		if ends[0] == s.id || ends[1] == s.id {
			conn.Close()
			delete(g.conns, conn)
		}
	}
	g.mu.Unlock()
	s.transport.DisconnectAll()
	for _, other := range g.all {
		if other != s {
			other.transport.Disconnect(raft.ServerAddress(s.id))
		}
	}
}

// heal ends isolate.
func (g *sites) heal(s *site) {
	g.mu.Lock()
	delete(g.cut, s.id)
	g.mu.Unlock()
	for _, other := range g.all {
		if other != s {
			other.transport.Connect(raft.ServerAddress(s.id), s.transport)
			s.transport.Connect(raft.ServerAddress(other.id), other.transport)
		}
	}
}

// leader waits for a server that leads, other than the excluded ones.
func (g *sites) leader(except ...*site) (leader *site) {
	g.t.Helper()
	wait.Until(g.t, "a server leads", func() bool {
		for _, s := range g.all {
			excluded := false
			for _, e := range except {
				excluded = excluded || e == s
			}
			if !excluded && s.srv.IsLeader() {
				leader = s
			}
		}
		return leader != nil
	})
	return leader
}

// follower waits until a server other than the excluded ones follows a leader.
func (g *sites) follower(except ...*site) (follower *site) {
	g.t.Helper()
	wait.Until(g.t, "a server follows", func() bool {
		leader := g.leader(except...)
		for _, s := range g.all {
			excluded := s == leader
			for _, e := range except {
				excluded = excluded || e == s
			}
			if !excluded && s.srv.Leader() == leader.id {
				follower = s
			}
		}
		return follower != nil
	})
	return follower
}

// describe writes a value, through any server, that others read: the description of a namespace.
func (g *sites) describe(at *site, namespace, value string) answer {
	return g.ask(at.machine, http.MethodPut, "/v1/namespace/"+namespace, fmt.Sprintf(`{"Description": %q}`, value))
}
