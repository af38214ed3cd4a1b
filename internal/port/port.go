// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package port

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/reeve-run/reeve/api"
)

// ALPN protocols between servers.
const (
	Raft     = "reeve-raft/1"     // raft's streams
	Founding = "reeve-founding/1" // the agreement on who founds a cluster
	Relay    = "reeve-relay/1"    // writes to the leader
)

const (
	handshakeTimeout = 10 * time.Second // from the connection's start to the end of its handshake
	maxUnfinished    = 1024             // connections before the end of their handshake
	localTries       = 16               // attempts to find a free port on two addresses
)

// httpProtocols are the ALPN protocols that HTTP serves.
var httpProtocols = []string{"h2", "http/1.1"}

// Config configures a Port.
type Config struct {
	Addr   string       // host:port; port 0 chooses a free one
	TLS    *tls.Config  // nil: the port serves only plain HTTP, to callers everywhere
	Logger *slog.Logger // nil discards the log
}

// A Port accepts connections and hands each to the listener of its protocol. Make one with
// Listen.
type Port struct {
	log        *slog.Logger
	tls        *tls.Config
	listeners  []net.Listener // the first one is at the configured address
	http       *queue
	unfinished *unfinished
	timeout    time.Duration
	isLocal    func(net.Conn) bool // reports whether a connection may speak plain HTTP

	ctx  context.Context // of handshakes
	stop context.CancelFunc
	work sync.WaitGroup

	mu      sync.Mutex
	streams map[string]*queue // by protocol
}

// Listen listens on an address. With TLS, it also listens on the same port of 127.0.0.1 if
// the address excludes it, because local callers use plain HTTP there.
func Listen(c Config) (*Port, error) {
	isEnough := includesLoopback
	if c.TLS == nil {
		isEnough = func(net.Addr) bool { return true }
	}
	listeners, err := listen(c.Addr, isEnough)
	if err != nil {
		return nil, err
	}
	p := newPort(c)
	p.serve(listeners...)
	return p, nil
}

func newPort(c Config) *Port {
	log := c.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &Port{log: log, tls: strict(c.TLS), unfinished: newUnfinished(maxUnfinished), timeout: handshakeTimeout, isLocal: isLocal,
		ctx: ctx, stop: stop, streams: map[string]*queue{}}
	p.http = newQueue(p)
	return p
}

// serve accepts connections of the listeners until Close.
func (p *Port) serve(listeners ...net.Listener) {
	p.listeners = listeners
	for _, l := range listeners {
		p.work.Go(func() { p.accept(l) })
	}
}

// strict returns the configuration for TLS 1.3, with the protocols of HTTP unless it has
// some.
func strict(c *tls.Config) *tls.Config {
	if c == nil {
		return nil
	}
	c = c.Clone()
	c.MinVersion = tls.VersionTLS13
	if len(c.NextProtos) == 0 {
		c.NextProtos = httpProtocols
	}
	return c
}

// Addr returns the port's address, as host:port.
func (p *Port) Addr() string { return p.listeners[0].Addr().String() }

// HTTP returns the listener of the API. Its connections are plain ones, or a *tls.Conn whose
// handshake is complete.
func (p *Port) HTTP() net.Listener { return p.http }

// Stream returns the listener of a protocol between members. Its connections are a *tls.Conn
// whose handshake is complete and whose peer sent a certificate. The configuration's
// NextProtos must contain the protocol.
func (p *Port) Stream(protocol string) net.Listener {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.streams[protocol]
	if q == nil {
		q = newQueue(p)
		p.streams[protocol] = q
	}
	return q
}

// stream returns the queue of a protocol; nil if nobody serves it.
func (p *Port) stream(protocol string) *queue {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.streams[protocol]
}

// Close stops listening, closes all connections that were not handed over, and waits for
// the port's goroutines.
func (p *Port) Close() error {
	p.stop()
	var err error
	for _, l := range p.listeners {
		if e := l.Close(); e != nil && !errors.Is(e, net.ErrClosed) {
			err = errors.Join(err, e)
		}
	}
	p.unfinished.close()
	p.work.Wait()
	return err
}

// listen listens on an address, and on the same port of 127.0.0.1 unless the address is
// enough.
func listen(addr string, isEnough func(net.Addr) bool) ([]net.Listener, error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "address %q is not HOST:PORT: %v", addr, err)
	}
	number, err := strconv.Atoi(port)
	chosen := err == nil && number == 0
	for try := 1; ; try++ {
		first, err := net.Listen("tcp", addr)
		if err != nil {
			return nil, unusable(addr, err)
		}
		if isEnough(first.Addr()) {
			return []net.Listener{first}, nil
		}
		beside := net.JoinHostPort("127.0.0.1", strconv.Itoa(first.Addr().(*net.TCPAddr).Port))
		second, err := net.Listen("tcp", beside)
		if err == nil {
			return []net.Listener{first, second}, nil
		}
		first.Close()
		if !chosen || !errors.Is(err, syscall.EADDRINUSE) || try == localTries {
			return nil, fmt.Errorf("serve local callers beside %s: %w", addr, unusable(beside, err))
		}
	}
}

func unusable(addr string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return api.Errorf(api.CodeUnavailable, "address %s is already in use: another agent may be running; stop it, or choose another address with -http-addr", addr)
	}
	return api.Errorf(api.CodeUnavailable, "cannot listen on %s: %v", addr, err)
}

// includesLoopback reports whether local callers reach a listener at a loopback address.
func includesLoopback(a net.Addr) bool {
	ip, ok := netip.AddrFromSlice(a.(*net.TCPAddr).IP)
	ip = ip.Unmap()
	return !ok || ip.IsUnspecified() || ip.IsLoopback()
}

// isHTTP reports whether a negotiated protocol is HTTP's; "" is that of clients without ALPN.
func isHTTP(protocol string) bool { return protocol == "" || slices.Contains(httpProtocols, protocol) }
