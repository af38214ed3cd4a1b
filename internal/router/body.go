// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// A body is a request's body on its way to an instance. A small one is read
// before an instance is chosen: a slow client then keeps no instance waiting,
// and another instance can be given the same. A larger one, one of unknown
// length, and one that its client holds back until it is asked for, are passed
// on while they come, by a goroutine of their own, because the answer may come
// first.
type body struct {
	kind   bodyKind
	memory []byte
	length int64 // that is still to be read from the client; -1: until the last chunk
	chunks chunks
	read   atomic.Int64 // bytes that came from the client, with their framing

	pump *pump
}

type bodyKind uint8

const (
	noBody bodyKind = iota
	bodyInMemory
	bodyStream
)

// inMemory is how large a body may be to be read beforehand.
const inMemory = 64 << 10

func (b *body) begin(q *request) {
	*b = body{kind: noBody}
	switch {
	case q.chunked:
		b.kind, b.length = bodyStream, -1
	case q.length > 0:
		b.kind, b.length = bodyStream, q.length
	}
}

// load reads a small body.
func (b *body) load(c *conn) *refusal {
	if b.kind != bodyStream || b.length < 0 || b.length > inMemory || c.request.expects {
		return nil
	}
	want := int(b.length)
	if have := c.w - c.r; have < want && len(c.buf)-c.r < want {
		// The head stays where it is: all that was parsed points to it.
		larger := make([]byte, want+clientRoom)
		c.w = copy(larger, c.unread())
		c.buf, c.r = larger, 0
	}
	limit := c.router.config.BodyTimeout
	var since time.Time
	for c.w-c.r < want {
		if since.IsZero() {
			since = time.Now()
			c.waitRead(since, limit/2)
		}
		err := c.fill()
		switch {
		case err == nil:
			since = time.Time{}
		case isTimeout(err) && time.Since(since) < limit:
			c.readExactlyBy(since.Add(limit)) // the coarse deadline came early
		default:
			b.length = -1
			if isTimeout(err) {
				return &refusal{http.StatusRequestTimeout, "the request's body did not come in time"}
			}
			return &refusal{statusClientGone, "the client went away before the request's end"}
		}
	}
	b.memory = c.buf[c.r : c.r+want]
	c.r += want
	b.kind, b.length = bodyInMemory, 0
	b.read.Store(int64(want))
	return nil
}

// underWay reports whether the body is still being passed on.
func (b *body) underWay() bool {
	if b.pump == nil {
		return false
	}
	select {
	case <-b.pump.done:
		return false
	default:
		return true
	}
}

// isRead reports whether the client has nothing more to send of the body.
func (b *body) isRead() bool { return b.pump == nil || b.pump.read.Load() }

// again reports whether the body can be sent once more.
func (b *body) again() bool { return b.kind != bodyStream || b.pump == nil }

// A pump passes a body on. When it fails because of the client, it cuts the
// instance's connection: nothing else would end the wait for an answer.
type pump struct {
	done     chan struct{}
	stop     atomic.Bool
	read     atomic.Bool // all of the body came from the client
	complete bool
	refused  *refusal // what the client did wrong
	rest     []byte   // what came after the body
}

// start begins to pass on a body to an instance.
func (b *body) start(c *conn, u *upstream) {
	b.pump = &pump{done: make(chan struct{})}
	go func() {
		err := b.copy(c, u)
		b.pump.complete = err == nil
		errors.As(err, &b.pump.refused)
		refused := b.pump.refused != nil
		close(b.pump.done)
		if refused {
			u.nc.Close()
		}
	}()
}

// copy reads from the client and writes to the instance. Its error is a refusal
// when it is the client's fault, and nil at the body's end.
func (b *body) copy(c *conn, u *upstream) error {
	room := bodyRoom.Get().(*[32 << 10]byte)
	defer bodyRoom.Put(room)
	piece := c.unread()
	c.r = c.w
	for {
		n := len(piece)
		var err error
		if b.length >= 0 {
			n = int(min(int64(n), b.length))
			b.length -= int64(n)
		} else if n, err = b.chunks.advance(piece); err != nil {
			return bad(err.Error())
		}
		if total, bound := b.read.Add(int64(n)), c.router.config.MaxBody; bound > 0 && total > bound {
			return tooLarge(bound)
		}
		if ended := b.length == 0 || b.chunks.isDone(); ended {
			b.pump.read.Store(true) // before the instance has it, and can answer
		}
		if n > 0 {
			if _, err := u.write(piece[:n], c.router.config.BodyTimeout); err != nil {
				return err
			}
		}
		if b.length == 0 || b.chunks.isDone() {
			b.length = 0
			if n < len(piece) {
				b.pump.rest = append([]byte(nil), piece[n:]...)
			}
			return nil
		}
		got, err := b.readMore(c, room[:])
		if err != nil {
			return err
		}
		piece = room[:got]
	}
}

// readMore waits for the next piece of a body that is passed on.
func (b *body) readMore(c *conn, room []byte) (int, error) {
	limit := c.router.config.BodyTimeout
	since := time.Now()
	c.waitRead(since, limit/2)
	for {
		if b.pump.stop.Load() {
			return 0, errStopped // the deadline that was to tell so is gone
		}
		got, err := c.nc.Read(room)
		switch {
		case b.pump.stop.Load():
			return 0, errStopped
		case got > 0:
			return got, nil
		case !isTimeout(err):
			return 0, &refusal{statusClientGone, "the client went away before the request's end"}
		case time.Since(since) >= limit:
			return 0, &refusal{http.StatusRequestTimeout, "the request's body did not come in time"}
		}
		c.readExactlyBy(since.Add(limit)) // the coarse deadline came early
	}
}

// past is a deadline that interrupts what is waiting.
var past = time.Unix(1, 0)

var errStopped = errors.New("the answer came before the request's end")

// finish waits for the pump, and leaves the connection at the next request. It
// reports whether there can be one: the client may not be done with this one.
func (b *body) finish(c *conn) bool {
	p := b.pump
	if p == nil {
		return b.kind != bodyStream
	}
	select {
	case <-p.done:
	default:
		p.stop.Store(true)
		c.nc.SetReadDeadline(past) // interrupts it
		<-p.done
		c.readExactlyBy(time.Time{}) // it may just have come to the end by itself
	}
	if !p.complete {
		return false
	}
	if len(p.rest) > 0 {
		if len(p.rest) > len(c.buf) {
			c.buf = make([]byte, len(p.rest)+clientRoom)
		}
		c.r, c.w = 0, copy(c.buf, p.rest)
	}
	return true
}

func tooLarge(bound int64) *refusal {
	return &refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the request's body is larger than the router lets through, which is %d bytes", bound)}
}
