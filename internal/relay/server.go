// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// leaveTimeout bounds the time in which the clients close their connections to a server that
// shuts down.
const leaveTimeout = time.Second

// A Server answers the requests of clients. Make one with NewServer.
type Server struct {
	handler http.Handler
	log     *slog.Logger
	running sync.WaitGroup // goroutines of sessions

	mu       sync.Mutex
	sessions map[*session]struct{}
	leaving  bool
}

// NewServer returns a server that has handler answer all requests. A nil logger discards the log.
func NewServer(handler http.Handler, logger *slog.Logger) *Server {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Server{handler: handler, log: logger, sessions: map[*session]struct{}{}}
}

// Run serves the connections of a listener, which must be those of other servers, until ctx ends.
// It returns when all connections are closed.
func (s *Server) Run(ctx context.Context, l net.Listener) {
	left := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(left)
		l.Close()
		s.leave()
	})
	for {
		conn, err := l.Accept()
		if err != nil {
			break // the listener is closed
		}
		s.serve(ctx, conn)
	}
	<-left
	timer := time.AfterFunc(leaveTimeout, s.closeAll)
	defer timer.Stop()
	s.running.Wait()
}

// serve serves a connection in a goroutine of its own.
func (s *Server) serve(ctx context.Context, conn net.Conn) {
	c := newSession(s.handler, s.log, conn)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving {
		conn.Close()
		return
	}
	s.sessions[c] = struct{}{}
	s.running.Go(func() {
		if err := c.run(ctx); errors.Is(err, errProtocol) {
			s.log.Warn("a connection of a server was closed", "peer", conn.RemoteAddr(), "error", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.sessions, c)
	})
}

// leave asks the clients to send no further requests.
func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving = true
	for c := range s.sessions {
		c.writer.add(func(b []byte) []byte { return appendFrame(b, kindGoodbye, 0, nil) })
	}
}

// closeAll closes the connections that clients leave open.
func (s *Server) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.sessions {
		c.conn.Close()
	}
}
