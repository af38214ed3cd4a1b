// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// deliver passes an answer on to its end.
func (c *conn) deliver(p *pool, t target, name string, u *upstream) (keep, again bool, refused *refusal) {
	a := &c.answer
	if a.status >= 500 {
		p.failed(t.instance, "status "+strconv.Itoa(a.status))
	}
	c.record.status = a.status
	if a.status == http.StatusSwitchingProtocols {
		if !c.request.upgrade || !a.upgrade {
			u.close()
			return false, false, &refusal{http.StatusBadGateway, "the instance changed to a protocol that the client did not ask for"}
		}
		t.ejection.succeeded(ticks(time.Now()))
		c.writeAnswer(p, t, name, true)
		c.upgraded(u)
		return false, false, nil
	}
	body := a.hasBody(c.request.method)
	if body && !a.chunked && a.length < 0 {
		c.request.close, a.close = true, true // its end is the connection's
	}
	if body && a.chunked && c.request.minor == 0 {
		u.close()
		return false, false, &refusal{http.StatusBadGateway, "the instance answered an HTTP/1.0 request in chunks"}
	}
	if !c.body.isRead() {
		c.request.close = true // the rest of the request is not waited for
	}
	limit := c.router.config.BodyTimeout
	if a.mayPause() {
		limit = 0
		c.judge(p, t, nil) // its end may be days away
	}
	c.writeAnswer(p, t, name, false)
	err := c.relay(u, body, limit)
	if err != nil || limit != 0 {
		c.judge(p, t, err)
	}
	if err != nil {
		var why *refusal // its own variable: errors.As keeps it on the heap
		if errors.As(err, &why) {
			u.close()
			return false, false, why
		}
	}
	whole := err == nil && (c.body.pump == nil || !c.body.underWay() && c.body.pump.complete)
	switch {
	case whole && !a.close && u.r == u.w:
		t.idle.park(u, ticks(time.Now()))
	default:
		u.close()
	}
	if err != nil {
		c.record.truncated = true
		if errors.Is(err, errClientGone) {
			c.record.status = statusClientGone
			return false, false, nil
		}
		c.record.why = cutShort(err)
		if r := c.pumpRefused(); r != nil {
			c.record.why = r.why
		}
		if body && !a.chunked && a.length < 0 {
			c.nc.SetLinger(0) // a reset: the connection's end would say that this was all
		}
		return false, false, nil
	}
	return true, false, nil
}

// judge counts an answer as a success or a failure of its instance. The client
// is to blame for an answer that ends because the client left, or because it
// sent a bad body.
func (c *conn) judge(p *pool, t target, err error) {
	switch {
	case c.answer.status >= 500: // a failure that is counted already
	case err == nil:
		t.ejection.succeeded(ticks(time.Now()))
	case !errors.Is(err, errClientGone) && c.pumpRefused() == nil:
		p.failed(t.instance, cutShort(err))
	}
}

// cutShort says why an answer ended early.
func cutShort(err error) string {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return "the answer ended early: " + inWords(err)
}

var errStalled = errors.New("no byte of it came within body_timeout")

// mayPause reports whether an answer may be silent for as long as it likes: it
// is a stream of events or of gRPC's messages.
func (a *answer) mayPause() bool {
	for i := range a.fields {
		if f := &a.fields[i]; f.kind == fieldContentType && isStream(f.value) {
			return true
		}
	}
	return false
}

// isStream reports whether a content type is one of a stream whose sender says
// something only when there is something to say.
func isStream(contentType []byte) bool {
	const events, grpc = "text/event-stream", "application/grpc" // and application/grpc-web
	name, _, _ := bytes.Cut(contentType, []byte(";"))
	name = trim(name)
	return equalFold(name, events) || len(name) >= len(grpc) && equalFold(name[:len(grpc)], grpc)
}

// relay writes the head in c.out and then the body, each piece as soon as it is
// there. It waits for a piece no longer than the limit; 0 is no limit.
func (c *conn) relay(u *upstream, body bool, limit time.Duration) error {
	left := c.answer.length
	var follow chunks
	switch {
	case !body:
		left = 0
	case c.answer.chunked:
		left = -1
	}
	chunked := body && c.answer.chunked
	// end says how much of a piece belongs to the body, and whether that is all.
	end := func(piece []byte) (n int, ended bool, err error) {
		switch {
		case chunked:
			n, err = follow.advance(piece)
			return n, follow.isDone(), err
		case left < 0:
			return len(piece), false, nil
		}
		n = int(min(int64(len(piece)), left))
		left -= int64(n)
		return n, left == 0, nil
	}
	n, ended, err := end(u.unread())
	if err != nil {
		return &refusal{http.StatusBadGateway, "the instance's answer is not HTTP: " + err.Error()} // nothing was sent yet
	}
	c.out = append(c.out, u.unread()[:n]...)
	u.r += n
	c.record.out += int64(n)
	if c.send(c.out) != nil {
		return errClientGone
	}
	if ended {
		return nil
	}
	room := bodyRoom.Get().(*[32 << 10]byte)
	defer bodyRoom.Put(room)
	for !ended {
		got, err := c.readPiece(u, room[:], limit)
		if got == 0 {
			if err == io.EOF && !chunked && left < 0 {
				return nil
			}
			return err
		}
		if n, ended, err = end(room[:got]); err != nil {
			return err
		}
		if n < got {
			c.answer.close = true // more than it said: the connection is not to be trusted
		}
		c.record.out += int64(n)
		if c.send(room[:n]) != nil {
			return errClientGone
		}
	}
	return nil
}

// readPiece waits for more of an answer for as long as the client does, and no
// longer than the limit if that is above 0. The limit counts from the request's
// end: an instance may have nothing to say before it.
func (c *conn) readPiece(u *upstream, room []byte, limit time.Duration) (int, error) {
	since, wake := time.Now(), patience
	if limit > 0 {
		wake = min(wake, limit/2)
	}
	u.waitRead(since, wake)
	for {
		n, err := u.nc.Read(room)
		if n > 0 || !isTimeout(err) {
			return n, err
		}
		if c.isGone() {
			return 0, errClientGone
		}
		now := time.Now()
		if c.body.underWay() {
			since = now
		}
		left := limit - now.Sub(since)
		switch {
		case limit <= 0 || left > 2*wake:
			u.waitRead(now, wake)
		case left > 0:
			u.readExactlyBy(now.Add(left))
		default:
			return 0, errStalled
		}
	}
}
