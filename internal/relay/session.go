// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"sync"
	"time"
)

// retireInterval is the interval at which half of the idle workers of a session end.
const retireInterval = 10 * time.Second

// A session is a server's side of one connection. Its workers keep their stacks between
// requests: a goroutine per request would have to grow its stack each time.
type session struct {
	handler http.Handler
	log     *slog.Logger
	conn    net.Conn
	secured *tls.ConnectionState // nil without TLS
	writer  *writer
	jobs    chan *job // to idle workers; a nil job ends one
	workers sync.WaitGroup

	mu      sync.Mutex
	running map[uint64]context.CancelFunc // by number of the request
	idle    int                           // workers
}

// A job is one request.
type job struct {
	id      uint64
	request *http.Request
	cancel  context.CancelFunc
}

func newSession(handler http.Handler, log *slog.Logger, conn net.Conn) *session {
	s := &session{handler: handler, log: log, conn: conn, writer: newWriter(conn), jobs: make(chan *job), running: map[uint64]context.CancelFunc{}}
	if c, ok := conn.(*tls.Conn); ok {
		state := c.ConnectionState()
		s.secured = &state
	}
	return s
}

// run serves the session until its connection ends.
func (s *session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var loops sync.WaitGroup
	stopped := make(chan struct{})
	loops.Go(func() {
		if s.writer.run() != nil {
			s.conn.Close()
		}
	})
	loops.Go(func() { s.retire(stopped) })
	err := s.read(ctx)
	cancel()
	close(stopped)
	s.writer.close()
	s.conn.Close()
	loops.Wait()
	close(s.jobs)
	s.workers.Wait()
	return err
}

// read reads frames until the connection ends.
func (s *session) read(ctx context.Context) error {
	in := bufio.NewReaderSize(s.conn, readBuffer)
	for {
		k, id, content, err := readFrame(in, maxRequest)
		if err != nil {
			return err
		}
		switch k {
		case kindRequest:
			if err := s.begin(ctx, id, content); err != nil {
				return err
			}
		case kindCancel:
			s.mu.Lock()
			if cancel := s.running[id]; cancel != nil {
				cancel()
			}
			s.mu.Unlock()
		case kindPing:
			s.writer.add(func(b []byte) []byte { return appendFrame(b, kindPong, id, nil) })
		default:
			return fmt.Errorf("%w: a frame has the kind %d", errProtocol, k)
		}
		s.writer.awaitRoom()
	}
}

// begin has a worker answer a request.
func (s *session) begin(ctx context.Context, id uint64, content []byte) error {
	r, err := s.parseRequest(content)
	if err != nil {
		return err
	}
	j := &job{id: id}
	ctx, j.cancel = context.WithCancel(ctx)
	j.request = r.WithContext(ctx)
	s.mu.Lock()
	taken, full := s.running[id] != nil, len(s.running) >= maxInFlight
	if !taken && !full {
		s.running[id] = j.cancel
	}
	s.mu.Unlock()
	if taken || full {
		j.cancel()
		return fmt.Errorf("%w: request %d repeats a number, or is one too many beside %d others", errProtocol, id, maxInFlight)
	}
	select {
	case s.jobs <- j:
	default:
		s.workers.Go(func() { s.serve(j) })
	}
	return nil
}

// parseRequest parses the content of a request's frame.
func (s *session) parseRequest(content []byte) (*http.Request, error) {
	c := cursor{rest: content}
	method, target, host := c.text(), c.text(), c.text()
	header := c.header()
	switch {
	case c.err != nil:
		return nil, c.err
	case method == http.MethodGet || method == http.MethodHead:
		return nil, fmt.Errorf("%w: a request has the method %s", errProtocol, method)
	case len(c.rest) > MaxBody:
		return nil, fmt.Errorf("%w: a body has %d bytes; the limit is %d", errProtocol, len(c.rest), MaxBody)
	}
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errProtocol, err)
	}
	return &http.Request{
		Method: method, URL: u, RequestURI: target, Host: host, Header: header, TLS: s.secured, RemoteAddr: s.conn.RemoteAddr().String(),
		Proto: "HTTP/2.0", ProtoMajor: 2, Body: io.NopCloser(bytes.NewReader(c.rest)), ContentLength: int64(len(c.rest)),
	}, nil
}

// serve is one worker.
func (s *session) serve(j *job) {
	for j != nil {
		s.answer(j)
		s.mu.Lock()
		s.idle++
		s.mu.Unlock()
		j = <-s.jobs // nil if it is closed
		s.mu.Lock()
		s.idle--
		s.mu.Unlock()
	}
}

// answer has the handler answer a request.
func (s *session) answer(j *job) {
	a := &answer{header: http.Header{}}
	finished := s.handle(a, j.request)
	s.mu.Lock()
	delete(s.running, j.id)
	s.mu.Unlock()
	j.cancel()
	s.writer.add(func(b []byte) []byte {
		if !finished {
			return appendFrame(b, kindAborted, j.id, nil)
		}
		return appendFrame(b, kindAnswer, j.id, func(b []byte) []byte { return appendAnswer(b, a.code(), a.header, a.body) })
	})
}

// handle calls the handler. It reports false if the handler breaks off.
func (s *session) handle(a *answer, r *http.Request) (finished bool) {
	defer func() {
		if v := recover(); v != nil && v != http.ErrAbortHandler {
			s.log.Error("request panicked", "method", r.Method, "path", r.URL.Path, "panic", v, "stack", string(debug.Stack()))
		}
	}()
	s.handler.ServeHTTP(a, r)
	return !a.tooLarge
}

// retire ends idle workers.
func (s *session) retire(stopped <-chan struct{}) {
	ticker := time.NewTicker(retireInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-stopped:
			return
		}
		s.mu.Lock()
		surplus := (s.idle + 1) / 2
		s.mu.Unlock()
		for range surplus {
			select {
			case s.jobs <- nil:
			default:
			}
		}
	}
}
