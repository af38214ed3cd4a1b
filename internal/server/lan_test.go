// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"net"
	"sync"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/server/replica"
)

// lan connects the servers of a test in memory, with the transport of real servers. When a
// server ends, its connections break, as those of a process do: no request to it stays
// pending. raft.InmemTransport has such requests time out, and in a bubble no time passes
// after the test.
type lan struct {
	mu    sync.Mutex
	ports map[string]*lanPort
	cut   map[string]bool // servers that reach no other one
	wires map[*wire]bool
}

func newLAN() *lan {
	return &lan{ports: map[string]*lanPort{}, cut: map[string]bool{}, wires: map[*wire]bool{}}
}

// join returns the transport of a new server, whose address is its id.
func (l *lan) join(id string) raft.Transport {
	port := &lanPort{lan: l, id: id, arrivals: make(chan net.Conn), closed: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ports[id] = port
	dial := func(ctx context.Context, to string) (net.Conn, error) { return l.dial(ctx, id, to) }
	return replica.NewTransport(port, dial, id, nil, nil)
}

// isolate breaks the connections from and to a server, and refuses new ones.
func (l *lan) isolate(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut[id] = true
	for w := range l.wires {
		if w.from == id || w.to == id {
			w.Conn.Close()
		}
	}
}

// reaches reports whether a message from one server arrives at the other.
func (l *lan) reaches(from, to string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.cut[from] && !l.cut[to]
}

func (l *lan) dial(ctx context.Context, from, to string) (net.Conn, error) {
	l.mu.Lock()
	port, reachable := l.ports[to], !l.cut[from] && !l.cut[to]
	near, far := net.Pipe()
	w := &wire{Conn: near, lan: l, from: from, to: to}
	l.wires[w] = true
	l.mu.Unlock()
	err := error(net.ErrClosed)
	if port != nil && reachable {
		select {
		case port.arrivals <- far:
			return w, nil
		case <-port.closed:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	w.Close()
	return nil, err
}

// wire is the end of a connection at the server that dialed.
type wire struct {
	net.Conn
	lan      *lan
	from, to string
}

func (w *wire) Close() error {
	w.lan.mu.Lock()
	delete(w.lan.wires, w)
	w.lan.mu.Unlock()
	return w.Conn.Close()
}

// lanPort is the listener of a server.
type lanPort struct {
	lan      *lan
	id       string
	arrivals chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func (p *lanPort) Accept() (net.Conn, error) {
	select {
	case conn := <-p.arrivals:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *lanPort) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *lanPort) Addr() net.Addr  { return p }
func (p *lanPort) Network() string { return "lan" }
func (p *lanPort) String() string  { return p.id }
