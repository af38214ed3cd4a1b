// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodelink

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
)

// A Feed holds the messages for one node.
type Feed interface {
	// AppendNext appends the next message, and reports whether there was one.
	AppendNext(b []byte, slot uint32) ([]byte, bool, error)
	Close()
}

// A Peer is the other end of a connection.
type Peer struct {
	Node string // id of the node for which the peer speaks
	Any  bool   // reports whether it may speak for every node
}

// Config configures a Server. All functions except Logger are required.
type Config struct {
	// Identify returns the peer of a connection, or the reason of its rejection.
	Identify func(net.Conn) (Peer, error)
	// Removed reports whether a node was removed from the cluster.
	Removed func(nodeID string) bool
	// Heard tells the leader that nodes are alive.
	Heard func(context.Context, *nodeproto.Heartbeats) (*nodeproto.HeartbeatsResult, error)
	// Report gives the leader reports of nodes.
	Report func(context.Context, *nodeproto.Reports) (*nodeproto.ReportsResult, error)
	// Await returns when the state of this server has reached an index.
	Await func(ctx context.Context, index uint64) error
	// Open returns the messages for a node, from the state of this server. The feed calls notify
	// when another message is ready; notify does not block.
	Open   func(nodeID string, told api.Position, notify func()) (Feed, error)
	TTL    time.Duration // longest time between two heartbeats of a node
	Logger *slog.Logger  // nil discards the log
}

// A Server keeps the connections of nodes to one server of the cluster.
type Server struct {
	Config
	writers writers
	reports reports
	news    chan struct{} // a link waits for the leader

	mu       sync.Mutex
	conns    map[*conn]struct{}
	byNode   map[string]*link // open links
	waiting  []*link          // links whose hello or heartbeat the leader does not know yet
	detached bool             // reports whether the leader cannot be reached
	closed   bool
	running  sync.WaitGroup // goroutines of connections
}

// NewServer returns a server without connections.
func NewServer(c Config) *Server {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{Config: c, news: make(chan struct{}, 1), conns: map[*conn]struct{}{}, byNode: map[string]*link{}}
	s.reports.server = s
	return s
}

// Run serves the connections of a listener until ctx ends, and closes them.
func (s *Server) Run(ctx context.Context, l net.Listener) {
	var loops sync.WaitGroup
	loops.Go(func() { s.keepExchanging(ctx) })
	loops.Go(func() { s.closeSilent(ctx) })
	loops.Go(func() {
		<-ctx.Done()
		l.Close()
		s.close()
	})
	for {
		raw, err := l.Accept()
		if err != nil {
			break // the listener is closed
		}
		s.Serve(ctx, raw)
	}
	loops.Wait()
	s.running.Wait()
	s.writers.wait()
}

// Serve serves one connection, in a goroutine of its own.
func (s *Server) Serve(ctx context.Context, raw net.Conn) {
	peer, err := s.Identify(raw)
	if err != nil {
		s.Logger.Debug("a connection of a node was rejected", "peer", raw.RemoteAddr(), "error", err)
		s.writers.do(func() { refuse(raw, err) })
		return
	}
	c := &conn{server: s, raw: raw, peer: peer, ctx: ctx, lastHeard: time.Now()}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		raw.Close()
		return
	}
	s.conns[c] = struct{}{}
	s.running.Add(1)
	s.mu.Unlock()
	go c.serve()
}

// close closes all connections, and those that follow.
func (s *Server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.conns {
		c.raw.Close()
	}
}

// forget removes a connection that has ended.
func (s *Server) forget(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	for _, l := range c.links {
		if s.byNode[l.node] == l {
			delete(s.byNode, l.node)
		}
	}
	s.mu.Unlock()
	for _, l := range c.links {
		l.end()
	}
	s.running.Done()
}

// drop ends one link of a connection for several nodes.
func (s *Server) drop(l *link) {
	s.mu.Lock()
	if s.byNode[l.node] == l {
		delete(s.byNode, l.node)
	}
	s.mu.Unlock()
	l.end()
}

// silenceLimit is the number of TTLs after which a connection without messages is closed. The
// cluster has given the node up by then.
const silenceLimit = 2

// closeSilent closes connections whose nodes do not send any more.
func (s *Server) closeSilent(ctx context.Context) {
	tick := time.NewTicker(s.TTL / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			s.mu.Lock()
			for c := range s.conns {
				if now.Sub(c.heardAt()) > silenceLimit*s.TTL {
					c.raw.Close()
				}
			}
			s.mu.Unlock()
		}
	}
}

// Links returns the number of nodes that are connected.
func (s *Server) Links() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byNode)
}

// refuseTimeout bounds the time in which a rejected peer receives the reason.
const refuseTimeout = 5 * time.Second

// refuse tells a peer why it is rejected, and closes the connection.
func refuse(raw net.Conn, err error) {
	defer raw.Close()
	message, encodeErr := nodeproto.AppendMessage(nil, &nodeproto.ToNode{Failure: nodeproto.FailureOf(err)})
	if encodeErr == nil {
		raw.SetDeadline(time.Now().Add(refuseTimeout))
		_, _ = raw.Write(message)
	}
}

// errDetached rejects nodes while this server cannot help them.
var errDetached = api.Errorf(api.CodeUnavailable, "this server cannot reach the leader of the cluster: connect to another server")

// errProtocol wraps violations of the protocol.
var errProtocol = errors.New("the agent violates the protocol")
