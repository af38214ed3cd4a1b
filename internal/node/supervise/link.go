// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
)

// errLinkLost is returned if the supervisor disappeared before it answered.
var errLinkLost = errors.New("the connection to the supervisor is lost")

// A link is a connection to a supervisor, with requests in flight.
type link struct {
	conn  *net.UnixConn
	event func(*frame)
	dead  chan struct{} // closed with the connection
	done  chan struct{} // closed when the reader has returned

	writing sync.Mutex

	mu      sync.Mutex
	last    uint64
	waiting map[uint64]chan *frame
}

func newLink(conn *net.UnixConn, event func(*frame)) *link {
	l := &link{conn: conn, event: event, dead: make(chan struct{}), done: make(chan struct{}), waiting: map[uint64]chan *frame{}}
	go l.read()
	return l
}

func (l *link) close() {
	l.conn.Close()
	<-l.done
}

func (l *link) read() {
	defer close(l.done)
	defer close(l.dead)
	for {
		f, err := readFrame(l.conn)
		if err != nil {
			l.conn.Close()
			return
		}
		if f.ID == 0 {
			l.event(f)
			continue
		}
		l.mu.Lock()
		answer := l.waiting[f.ID]
		delete(l.waiting, f.ID)
		l.mu.Unlock()
		if answer != nil {
			answer <- f
		}
	}
}

func (l *link) call(ctx context.Context, verb string, body, answer any) error {
	ch := make(chan *frame, 1)
	l.mu.Lock()
	l.last++
	id := l.last
	l.waiting[id] = ch
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.waiting, id)
		l.mu.Unlock()
	}()
	l.writing.Lock()
	err := writeFrame(l.conn, &frame{ID: id, Verb: verb, Body: encodeBody(body)})
	l.writing.Unlock()
	if errors.Is(err, errTooLarge) {
		return err // the connection is as it was
	}
	if err != nil {
		// A partial message may have been sent. Answers that the supervisor sent before it ended can still be read.
		l.conn.CloseWrite()
		return errLinkLost
	}
	var f *frame
	select {
	case f = <-ch:
	case <-ctx.Done():
		return ctx.Err()
	case <-l.dead:
		select {
		case f = <-ch: // the answer came just before
		default:
			return errLinkLost
		}
	}
	if f.Error != nil {
		return f.Error.err()
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(f.Body, answer)
}
