// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/internal/router/http1"
)

// A body is the body of a request that the router forwards. The router reads a
// small body before it picks an instance: a slow client then does not occupy an
// instance, and the router can send the body again to another instance. It
// streams larger bodies, chunked bodies, and bodies that the client holds back
// until 100 Continue. A goroutine copies a streamed body, because the response
// may come first.
type body struct {
	kind    bodyKind
	memory  []byte
	length  int64 // bytes to read from the client; -1 for a chunked body
	framing http1.Body
	read    atomic.Int64 // bytes received from the client, including chunk framing

	pump *pump
}

type bodyKind uint8

const (
	noBody bodyKind = iota
	bodyInMemory
	bodyStream
)

// inMemory is the size limit of bodies that the router reads in advance.
const inMemory = 64 << 10

func (b *body) begin(q *http1.Request) {
	*b = body{kind: noBody, framing: q.Body()}
	switch {
	case q.Chunked:
		b.kind, b.length = bodyStream, -1
	case q.Length > 0:
		b.kind, b.length = bodyStream, q.Length
	}
}

// load reads a small body.
func (b *body) load(c *conn) *refusal {
	if b.kind != bodyStream || b.length < 0 || b.length > inMemory || c.request.Expects {
		return nil
	}
	want := int(b.length)
	if have := c.w - c.r; have < want && len(c.buf)-c.r < want {
		// The head stays in the old buffer, because the parsed request refers to it.
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
			c.readExactlyBy(since.Add(limit)) // the coarse deadline was too early
		default:
			if isTimeout(err) {
				return errBodyTimeout
			}
			return errClientLeft
		}
	}
	b.memory = c.buf[c.r : c.r+want]
	c.r += want
	b.kind = bodyInMemory
	b.read.Store(int64(want))
	return nil
}

var (
	errBodyTimeout = &refusal{status: http.StatusRequestTimeout, why: "the request's body did not come in time"}
	errClientLeft  = &refusal{status: statusClientGone, why: "the client went away before the request's end"}
)

// isStreaming reports whether the pump still copies the body.
func (b *body) isStreaming() bool {
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

// isRead reports whether the router has received the whole body.
func (b *body) isRead() bool { return b.pump == nil || b.pump.read.Load() }

// isReplayable reports whether the router can send the body again.
func (b *body) isReplayable() bool { return b.kind != bodyStream || b.pump == nil }

// A pump copies a streamed body to an instance. If the client causes an error,
// the pump closes the instance's connection: nothing else would end the wait for
// a response.
type pump struct {
	done     chan struct{}
	stop     atomic.Bool
	read     atomic.Bool // reports whether the client has sent the whole body
	complete bool        // reports whether the instance has received the whole body
	refused  *refusal    // the client's error
	rest     []byte      // bytes received after the body
}

// start begins to copy a body to an instance.
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

// copy reads from the client and writes to the instance until the end of the
// body. It returns a refusal for an error of the client.
func (b *body) copy(c *conn, u *upstream) error {
	room := bodyRoom.Get().(*[32 << 10]byte)
	defer bodyRoom.Put(room)
	piece := c.unread()
	c.r = c.w
	for {
		n, err := b.framing.Advance(piece)
		if err != nil {
			return bad(err.Error())
		}
		if total, bound := b.read.Add(int64(n)), c.router.config.MaxBody; bound > 0 && total > bound {
			return tooLarge(bound)
		}
		done := b.framing.Done()
		if done {
			b.pump.read.Store(true) // before the instance can respond to the whole body
		}
		if n > 0 {
			if _, err := u.write(piece[:n], c.router.config.BodyTimeout); err != nil {
				return err
			}
		}
		if done {
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

// readMore waits for the next piece of a streamed body.
func (b *body) readMore(c *conn, room []byte) (int, error) {
	limit := c.router.config.BodyTimeout
	since := time.Now()
	c.waitRead(since, limit/2)
	for {
		if b.pump.stop.Load() {
			return 0, errStopped // waitRead may have replaced the deadline that finish set
		}
		got, err := c.nc.Read(room)
		switch {
		case b.pump.stop.Load():
			return 0, errStopped
		case got > 0:
			return got, nil
		case !isTimeout(err):
			return 0, errClientLeft
		case time.Since(since) >= limit:
			return 0, errBodyTimeout
		}
		c.readExactlyBy(since.Add(limit)) // the coarse deadline was too early
	}
}

// past is a deadline that interrupts a waiting call.
var past = time.Unix(1, 0)

var errStopped = errors.New("the response came before the request's end")

// finish stops the pump, and positions the connection at the next request. It
// returns false if the client has not sent the whole body.
func (b *body) finish(c *conn) bool {
	p := b.pump
	if p == nil {
		return b.kind != bodyStream
	}
	select {
	case <-p.done:
	default:
		p.stop.Store(true)
		c.nc.SetReadDeadline(past) // interrupts the pump
		<-p.done
		c.readExactlyBy(time.Time{}) // the pump may just have completed
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
	return &refusal{status: http.StatusRequestEntityTooLarge, why: fmt.Sprintf("the request's body is larger than the router lets through, which is %d bytes", bound)}
}
