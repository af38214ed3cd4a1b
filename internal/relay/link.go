// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// pingInterval is the time without a sign of life after which a client that waits for answers
	// asks for one. After another interval without it, the connection counts as broken.
	pingInterval = 5 * time.Second
	// idleTimeout is the time without requests after which a client closes a connection.
	idleTimeout = time.Minute
	// readBuffer is the size of the buffers of connections, in bytes.
	readBuffer = 32 << 10
)

var (
	errAborted = errors.New("the server broke the request off")
	errSilent  = errors.New("the server does not answer")
	errIdle    = errors.New("the connection was not used")
	errGoodbye = errors.New("the server is shutting down")
)

// A link is a client's connection to one server.
type link struct {
	conn   net.Conn
	writer *writer

	mu      sync.Mutex
	waiting map[uint64]*waiter
	number  uint64 // of the newest request
	leaving bool   // takes no further requests
	ended   error
	heard   time.Time // of the last frame
	used    time.Time // of the last request
}

// A waiter is a request that waits for its answer.
type waiter struct {
	at      uint64 // position of its first byte
	outcome chan outcome
}

type outcome struct {
	resp *http.Response
	sent bool
	err  error
}

func newLink(conn net.Conn) *link {
	now := time.Now()
	return &link{conn: conn, writer: newWriter(conn), waiting: map[uint64]*waiter{}, heard: now, used: now}
}

// isOpen reports whether the link takes requests.
func (l *link) isOpen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.leaving && l.ended == nil
}

// run serves the link until it ends.
func (l *link) run() {
	var loops sync.WaitGroup
	stopped := make(chan struct{})
	loops.Go(func() {
		if err := l.writer.run(); err != nil {
			l.fail(err)
		}
	})
	loops.Go(func() { l.watch(stopped) })
	l.fail(l.read())
	close(stopped)
	loops.Wait()
}

// roundTrip sends a request, and waits for its answer.
func (l *link) roundTrip(r *http.Request, body []byte) (*http.Response, bool, error) {
	w := &waiter{outcome: make(chan outcome, 1)}
	l.mu.Lock()
	if l.leaving || l.ended != nil || len(l.waiting) >= maxInFlight {
		l.mu.Unlock()
		return nil, false, ErrNoLink
	}
	l.number++
	id := l.number
	at, ok := l.writer.add(func(b []byte) []byte {
		return appendFrame(b, kindRequest, id, func(b []byte) []byte { return appendRequest(b, r, body) })
	})
	if !ok {
		l.mu.Unlock()
		return nil, false, ErrNoLink
	}
	w.at = at
	l.waiting[id], l.used = w, time.Now()
	l.mu.Unlock()
	select {
	case o := <-w.outcome:
		return o.resp, o.sent, o.err
	case <-r.Context().Done():
	}
	l.mu.Lock()
	_, waits := l.waiting[id]
	delete(l.waiting, id)
	l.closeIfDone()
	l.mu.Unlock()
	if waits {
		l.writer.add(func(b []byte) []byte { return appendFrame(b, kindCancel, id, nil) })
	}
	return nil, true, r.Context().Err()
}

// read reads frames until the connection ends.
func (l *link) read() error {
	in := bufio.NewReaderSize(l.conn, readBuffer)
	for {
		k, id, content, err := readFrame(in, maxAnswer)
		if err != nil {
			return err
		}
		l.mu.Lock()
		l.heard = time.Now()
		w := l.waiting[id]
		switch k {
		case kindAnswer, kindAborted:
			delete(l.waiting, id)
			l.closeIfDone()
		case kindGoodbye:
			l.leaving = true
			l.closeIfDone()
		}
		l.mu.Unlock()
		switch {
		case k == kindAnswer:
			resp, err := parseAnswer(content)
			if w != nil {
				w.outcome <- outcome{resp, true, err}
			}
			if err != nil {
				return err
			}
		case k == kindAborted && w != nil:
			w.outcome <- outcome{nil, true, errAborted}
		case k != kindAborted && k != kindPong && k != kindGoodbye:
			return fmt.Errorf("%w: a frame has the kind %d", errProtocol, k)
		}
	}
}

// parseAnswer parses the content of an answer's frame.
func parseAnswer(content []byte) (*http.Response, error) {
	c := cursor{rest: content}
	status := c.number()
	header := c.header()
	if c.err == nil && (status < 200 || status > 999) {
		c.fail("an answer has the status " + strconv.FormatUint(status, 10))
	}
	if c.err != nil {
		return nil, c.err
	}
	return &http.Response{
		StatusCode: int(status), Status: strconv.Itoa(int(status)), Proto: "HTTP/2.0", ProtoMajor: 2,
		Header: header, Body: io.NopCloser(bytes.NewReader(c.rest)), ContentLength: int64(len(c.rest)),
	}, nil
}

// closeIfDone closes a link that takes no further requests, after its last answer. The caller
// holds the lock.
func (l *link) closeIfDone() {
	if l.leaving && len(l.waiting) == 0 {
		l.end(errGoodbye)
	}
}

// watch ends the link if the server does not answer, or if the link is not used.
func (l *link) watch(stopped <-chan struct{}) {
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	asked := false // since the last frame was received
	for {
		select {
		case <-ticker.C:
		case <-stopped:
			return
		}
		now := time.Now()
		l.mu.Lock()
		silent := len(l.waiting) > 0 && now.Sub(l.heard) >= pingInterval
		switch {
		case !silent:
			asked = false
		case asked && now.Sub(l.heard) >= 2*pingInterval:
			l.end(errSilent)
		default:
			asked = true
		}
		if len(l.waiting) == 0 && now.Sub(l.used) >= idleTimeout {
			l.leaving = true
			l.end(errIdle)
		}
		l.mu.Unlock()
		if asked {
			l.writer.add(func(b []byte) []byte { return appendFrame(b, kindPing, 0, nil) })
		}
	}
}

// fail ends the link: its requests get an error.
func (l *link) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end(err)
}

// end is fail for callers that hold the lock.
func (l *link) end(err error) {
	if l.ended != nil {
		return
	}
	l.ended = err
	l.writer.close()
	l.conn.Close()
	for id, w := range l.waiting {
		w.outcome <- outcome{nil, l.writer.mayHaveSent(w.at), err}
		delete(l.waiting, id)
	}
}
