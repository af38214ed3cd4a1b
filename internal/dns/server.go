// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/miekg/dns"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// Config configures the server.
type Config struct {
	Address   string        // host:port; port 0: any free port
	Zone      string        // default: "reeve"
	TTL       time.Duration // time for which answers may be cached; whole seconds
	Upstreams []string      // host:port of name servers for other names; none: those are refused
	// Resolvers returns further name servers for other names, which may change; nil: only Upstreams.
	Resolvers func() []string
	Client    *client.Client
	Logger    *slog.Logger // default: no logging
}

func (c Config) logger() *slog.Logger {
	if c.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Logger
}

// Bounds of answers over UDP. Larger packets may be fragmented.
const (
	udpSize    = 1232
	udpMinimum = dns.MinMsgSize
)

// idleTimeout is the longest time without a query on a connection.
const idleTimeout = 10 * time.Second

// A Server answers queries over UDP and TCP.
type Server struct {
	config     Config
	log        *slog.Logger
	zone       *zone
	zoneName   string     // fully qualified, in lower case
	ttl        uint32     // seconds
	self       netip.Addr // invalid if it listens on all addresses
	udp        net.PacketConn
	tcp        net.Listener
	forwarding chan struct{}
}

// Listen listens on the address. Run serves.
func Listen(c Config) (*Server, error) {
	if c.Zone == "" {
		c.Zone = "reeve"
	}
	s := &Server{
		config: c, log: c.logger(), zone: newZone(), zoneName: strings.ToLower(dns.Fqdn(c.Zone)),
		ttl: uint32(c.TTL / time.Second), forwarding: make(chan struct{}, maxForwarded),
	}
	if err := s.listen(); err != nil {
		return nil, err
	}
	if at, err := netip.ParseAddrPort(s.Addr()); err == nil && !at.Addr().IsUnspecified() {
		s.self = at.Addr().Unmap().WithZone("")
	}
	return s, nil
}

// listenAttempts bounds the tried free ports: a port that is free for TCP may be taken for
// UDP.
const listenAttempts = 10

func (s *Server) listen() (err error) {
	_, port, err := net.SplitHostPort(s.config.Address)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "dns address %q: must be HOST:PORT, as in 127.0.0.1:8600", s.config.Address)
	}
	for range listenAttempts {
		if s.tcp, err = net.Listen("tcp", s.config.Address); err != nil {
			break
		}
		if s.udp, err = net.ListenPacket("udp", s.tcp.Addr().String()); err == nil {
			return nil
		}
		s.tcp.Close()
		if port != "0" {
			break
		}
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return &TakenError{s.config.Address}
	case errors.Is(err, syscall.EACCES):
		return api.Errorf(api.CodeUnavailable, "dns: cannot listen on %s: ports below 1024 need the right to (CAP_NET_BIND_SERVICE); choose another address in dns { }", s.config.Address)
	}
	return api.Errorf(api.CodeUnavailable, "dns: cannot listen on %s: %v", s.config.Address, err)
}

// A TakenError reports that another process uses the address.
type TakenError struct{ Address string }

func (e *TakenError) Error() string {
	return "dns: address " + e.Address + " is already in use: another name server or agent may be running; choose another address in dns { }, or set enabled = false there"
}

// Addr returns the server's address, as host:port, for UDP and TCP.
func (s *Server) Addr() string { return s.tcp.Addr().String() }

// Zone returns the zone's name, without the final dot.
func (s *Server) Zone() string { return strings.TrimSuffix(s.zoneName, ".") }

// Close closes the listeners of a server that does not run.
func (s *Server) Close() error { return errors.Join(s.udp.Close(), s.tcp.Close()) }

// Run serves until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, r *dns.Msg) { s.serve(ctx, w, r) })
	servers := []*dns.Server{
		{PacketConn: s.udp, Handler: handler, UDPSize: dns.MinMsgSize * 8, MsgInvalidFunc: s.invalid},
		{Listener: s.tcp, Handler: handler, ReadTimeout: idleTimeout, WriteTimeout: idleTimeout, MsgInvalidFunc: s.invalid},
	}
	var wg sync.WaitGroup
	failed := make(chan error, len(servers))
	for _, server := range servers {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		wg.Go(func() {
			if err := server.ActivateAndServe(); err != nil && ctx.Err() == nil {
				failed <- err
			}
		})
		select {
		case <-started:
		case err := <-failed:
			failed <- err
		}
	}
	wg.Go(func() {
		_ = s.config.Client.Catalog().StreamReporting(ctx, func(u *api.CatalogUpdate) error {
			s.zone.update(u)
			return nil
		}, func(err error) {
			s.log.Debug("the catalog stream ended; the last known catalog stays in use", "error", err)
		})
	})
	var err error
	select {
	case <-ctx.Done():
		err = ctx.Err()
	case err = <-failed:
	}
	cancel()
	graceful, done := context.WithTimeout(context.Background(), upstreamTimeout)
	defer done()
	for _, server := range servers {
		_ = server.ShutdownContext(graceful)
	}
	wg.Wait()
	return err
}

func (s *Server) invalid(_ []byte, err error) {
	s.log.Debug("ignored a packet that is not a query", "error", err)
}

// serve answers one question.
func (s *Server) serve(ctx context.Context, w dns.ResponseWriter, r *dns.Msg) {
	network := w.RemoteAddr().Network()
	if err := w.WriteMsg(s.respond(ctx, r, network)); err != nil {
		s.log.Debug("cannot answer a query", "from", w.RemoteAddr(), "error", err)
	}
}

// respond makes the answer to a message.
func (s *Server) respond(ctx context.Context, r *dns.Msg, network string) *dns.Msg {
	if r.Response || len(r.Question) != 1 {
		return refusal(r, dns.RcodeFormatError)
	}
	if r.Opcode != dns.OpcodeQuery {
		return refusal(r, dns.RcodeNotImplemented)
	}
	q := r.Question[0]
	labels, ours := labelsBelow(q.Name, s.zoneName)
	if !ours {
		return s.forward(ctx, r, network)
	}
	m := new(dns.Msg)
	m.SetReply(r)
	m.RecursionAvailable = len(s.upstreams()) > 0
	m.Compress = true
	size := sizeFor(r, network)
	opt := r.IsEdns0()
	switch {
	case opt != nil && opt.Version() != 0:
		m.Rcode = dns.RcodeBadVers
	case q.Qclass != dns.ClassINET && q.Qclass != dns.ClassANY, q.Qtype == dns.TypeAXFR, q.Qtype == dns.TypeIXFR:
		m.Rcode = dns.RcodeRefused
	case !s.isKnown():
		m.Rcode = dns.RcodeServerFailure // nobody can say what there is
	default:
		s.answer(m, q, labels, size)
	}
	if opt != nil {
		m.SetEdns0(udpSize, opt.Do())
	}
	m.Truncate(size)
	return m
}

func (s *Server) isKnown() bool {
	s.zone.mu.RLock()
	defer s.zone.mu.RUnlock()
	return s.zone.known
}

// sizeFor is how long an answer may be. What the asker says is believed only
// between bounds.
func sizeFor(r *dns.Msg, network string) int {
	if strings.HasPrefix(network, "tcp") {
		return dns.MaxMsgSize
	}
	if opt := r.IsEdns0(); opt != nil {
		return int(min(max(opt.UDPSize(), udpMinimum), udpSize))
	}
	return udpMinimum
}
