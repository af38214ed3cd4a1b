// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
	"golang.org/x/sys/unix"
)

// The transport between servers.
//
// Raft opens one connection per request in flight and keeps idle ones: a heartbeat never
// queues behind a large batch of entries or a snapshot. Follower and leader answer and send
// heartbeats outside of raft's main loop, so that they do not wait for a disk either.
//
// A partition without resets leaves connections that look healthy while the kernel backs
// its retransmissions off. Heartbeats would stay away for as long after the partition
// healed. The kernel closes such a connection after deadPeer; the next request dials anew.
const (
	requestTimeout = 10 * time.Second // of one request, except snapshots: that and the disk of the peer
	dialTimeout    = time.Second
	deadPeer       = 2 * time.Second // without acknowledgement of sent bytes
	idlePerPeer    = 3               // pooled connections
	// maxStreams bounds the accepted connections per host. Each holds a buffer of 256 KB.
	// Servers use up to six.
	maxStreams = 64
	// maxBatch bounds the entries of one request, and so the memory of one that a lagging
	// server gets: an entry has up to 4 MB.
	maxBatch = 32
)

// NewTransport returns the transport of a server that accepts its peers' connections from
// listener. dial connects to a peer; advertise is the address at which the peers reach this
// server. addresses returns the newest address of a server, or "" for the one that the
// log's configuration records. The caller must have authenticated the connections that
// listener returns. The transport closes listener.
func NewTransport(listener net.Listener, dial func(ctx context.Context, address string) (net.Conn, error), advertise string,
	addresses func(id string) string, logger *slog.Logger,
) raft.Transport {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	layer := &streams{
		Listener: listener, dial: dial, advertise: address(advertise), logger: logger,
		open: map[*stream]bool{}, perHost: map[string]int{}, lost: make(chan struct{}, 1),
	}
	config := &raft.NetworkTransportConfig{Logger: newRaftLogger(logger), MaxPool: idlePerPeer, Timeout: requestTimeout, Stream: layer}
	if addresses != nil {
		config.ServerAddressProvider = addressBook(addresses)
	}
	return &wire{raft.NewNetworkTransportWithConfig(config), layer, addresses}
}

// wire is the transport of NewTransport.
type wire struct {
	*raft.NetworkTransport
	streams   *streams
	addresses func(id string) string
}

// Lost implements lossy.
func (w *wire) Lost() <-chan struct{} { return w.streams.lost }

// Probe implements lossy.
func (w *wire) Probe(ctx context.Context, id raft.ServerID, target raft.ServerAddress) error {
	at := string(target)
	if w.addresses != nil {
		at = cmp.Or(w.addresses(string(id)), at)
	}
	conn, err := w.streams.dial(ctx, at)
	if err == nil {
		conn.Close()
	}
	return err
}

// address is a net.Addr of text, such as host:port.
type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }

// addressBook implements raft.ServerAddressProvider.
type addressBook func(id string) string

var errNoAddress = errors.New("no newer address is known")

func (b addressBook) ServerAddr(id raft.ServerID) (raft.ServerAddress, error) {
	if a := b(string(id)); a != "" {
		return raft.ServerAddress(a), nil
	}
	return "", errNoAddress
}

// streams is the raft.StreamLayer of NewTransport. It owns the connections: raft's transport
// leaves them open when it closes.
type streams struct {
	net.Listener
	dial      func(ctx context.Context, address string) (net.Conn, error)
	advertise net.Addr
	logger    *slog.Logger
	lost      chan struct{} // receives a value after a peer closed a connection

	mu      sync.Mutex
	closed  bool
	open    map[*stream]bool
	perHost map[string]int
}

// Addr returns the address that peers dial.
func (s *streams) Addr() net.Addr { return s.advertise }

// Dial implements raft.StreamLayer.
func (s *streams) Dial(to raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), min(timeout, dialTimeout))
	defer cancel()
	conn, err := s.dial(ctx, string(to))
	if err != nil {
		return nil, err
	}
	detectDeadPeer(conn)
	if c, ok := s.track(conn, ""); ok {
		return c, nil
	}
	conn.Close()
	return nil, net.ErrClosed
}

// Accept implements net.Listener. It closes connections beyond the limit of a host.
func (s *streams) Accept() (net.Conn, error) {
	for {
		conn, err := s.Listener.Accept()
		if err != nil {
			return nil, err
		}
		host := conn.RemoteAddr().String()
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if c, ok := s.track(conn, host); ok {
			detectDeadPeer(conn)
			return c, nil
		}
		s.logger.Warn("closed a server's connection: it holds too many", "from", conn.RemoteAddr(), "limit", maxStreams)
		conn.Close()
	}
}

// track owns a connection to a peer, or from a host. It refuses one beyond the limit of the
// host.
func (s *streams) track(conn net.Conn, host string) (*stream, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || host != "" && s.perHost[host] >= maxStreams {
		return nil, false
	}
	c := &stream{Conn: conn, host: host, owner: s}
	s.open[c] = true
	s.perHost[host]++
	return c, true
}

// Close closes the listener and all connections.
func (s *streams) Close() error {
	err := s.Listener.Close()
	s.mu.Lock()
	s.closed = true
	open := make([]*stream, 0, len(s.open))
	for c := range s.open {
		open = append(open, c)
	}
	s.mu.Unlock()
	for _, c := range open {
		c.Close()
	}
	return err
}

// stream is a connection that streams owns.
type stream struct {
	net.Conn
	host  string // that it was accepted from; "": dialed
	owner *streams
}

// Close implements net.Conn.
func (c *stream) Close() error {
	c.owner.mu.Lock()
	if c.owner.open[c] {
		if c.host != "" && !c.owner.closed {
			select {
			case c.owner.lost <- struct{}{}:
			default:
			}
		}
		delete(c.owner.open, c)
		if c.owner.perHost[c.host]--; c.owner.perHost[c.host] == 0 {
			delete(c.owner.perHost, c.host)
		}
	}
	c.owner.mu.Unlock()
	return c.Conn.Close()
}

// detectDeadPeer has the kernel close a TCP connection, also beneath TLS, whose peer
// acknowledges nothing for deadPeer.
func detectDeadPeer(conn net.Conn) {
	if inner, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = inner.NetConn()
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return
	}
	if raw, err := tcp.SyscallConn(); err == nil {
		// Without it, a partition is noticed later, by requestTimeout.
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(deadPeer.Milliseconds()))
		})
	}
}
