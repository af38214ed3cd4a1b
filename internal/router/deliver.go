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

	"github.com/reeve-run/reeve/internal/router/http1"
)

// deliver forwards a response to its end.
func (c *conn) deliver(p *pool, t target, name string, u *upstream) (keep, again bool, refused *refusal) {
	a := &c.response
	if a.Status >= 500 {
		p.failed(t.instance, "status "+strconv.Itoa(a.Status))
	}
	c.record.status = a.Status
	if a.Status == http.StatusSwitchingProtocols {
		if !c.request.Upgrade || !a.Upgrade {
			u.close()
			return false, false, &refusal{status: http.StatusBadGateway, why: "the instance changed to a protocol that the client did not ask for"}
		}
		t.ejection.succeeded(ticks(time.Now()))
		c.writeResponse(p, t, name, true)
		c.upgraded(u)
		return false, false, nil
	}
	body := a.Body(c.request.Method)
	untilClose := body.EndsWithConnection()
	if untilClose {
		c.request.Close, a.Close = true, true
	}
	if a.Chunked && c.request.Minor == 0 && a.HasBody(c.request.Method) {
		u.close()
		return false, false, &refusal{status: http.StatusBadGateway, why: "the instance answered an HTTP/1.0 request in chunks"}
	}
	if !c.body.isRead() {
		c.request.Close = true // the router does not wait for the rest of the request
	}
	limit := c.router.config.BodyTimeout
	if mayPause(a) {
		limit = 0
		c.judge(p, t, nil) // the response may last for days
	}
	c.writeResponse(p, t, name, false)
	err := c.relay(u, &body, limit)
	if err != nil || limit != 0 {
		c.judge(p, t, err)
	}
	if err != nil {
		var why *refusal // declared here because errors.As moves it to the heap
		if errors.As(err, &why) {
			u.close()
			return false, false, why
		}
	}
	whole := err == nil && (c.body.pump == nil || !c.body.isStreaming() && c.body.pump.complete)
	switch {
	case whole && !a.Close && u.r == u.w:
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
		if r := c.pumpRefusal(); r != nil {
			c.record.why = r.why
		}
		if untilClose {
			c.nc.SetLinger(0) // a reset, because a regular end would mark the end of the body
		}
		return false, false, nil
	}
	return true, false, nil
}

// judge counts a response as a success or a failure of its instance. The client
// is responsible for a response that ends because the client left, or because the
// request's body was invalid.
func (c *conn) judge(p *pool, t target, err error) {
	switch {
	case c.response.Status >= 500: // already counted as a failure
	case err == nil:
		t.ejection.succeeded(ticks(time.Now()))
	case !errors.Is(err, errClientGone) && c.pumpRefusal() == nil:
		p.failed(t.instance, cutShort(err))
	}
}

// cutShort describes why a response ended early.
func cutShort(err error) string {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return "the answer ended early: " + inWords(err)
}

var errStalled = errors.New("no byte of it came within body_timeout")

// mayPause reports whether a response may pause indefinitely.
func mayPause(a *http1.Response) bool {
	for i := range a.Fields {
		if f := &a.Fields[i]; f.Kind == http1.ContentType && isStream(f.Value) {
			return true
		}
	}
	return false
}

// isStream reports whether a content type is that of a stream of events or of
// gRPC messages, which pauses between them.
func isStream(contentType []byte) bool {
	const events, grpc = "text/event-stream", "application/grpc" // also a prefix of application/grpc-web
	name, _, _ := bytes.Cut(contentType, []byte(";"))
	name = http1.Trim(name)
	return http1.EqualFold(name, events) || len(name) >= len(grpc) && http1.EqualFold(name[:len(grpc)], grpc)
}

// relay writes the head in c.out and then the body, forwarding each piece when it
// arrives. It waits for a piece no longer than the limit; 0 is no limit.
func (c *conn) relay(u *upstream, body *http1.Body, limit time.Duration) error {
	n, err := body.Advance(u.unread())
	if err != nil {
		return &refusal{status: http.StatusBadGateway, why: "the instance's answer is not HTTP: " + err.Error()} // the client has received nothing
	}
	c.out = append(c.out, u.unread()[:n]...)
	u.r += n
	c.record.out += int64(n)
	if c.send(c.out) != nil {
		return errClientGone
	}
	if body.Done() {
		return nil
	}
	room := bodyRoom.Get().(*[32 << 10]byte)
	defer bodyRoom.Put(room)
	for !body.Done() {
		got, err := c.readPiece(u, room[:], limit)
		if got == 0 {
			if err == io.EOF && body.EndsWithConnection() {
				return nil
			}
			return err
		}
		if n, err = body.Advance(room[:got]); err != nil {
			return err
		}
		if n < got {
			c.response.Close = true // the instance sent more than the body, so the connection is unusable
		}
		c.record.out += int64(n)
		if c.send(room[:n]) != nil {
			return errClientGone
		}
	}
	return nil
}

// readPiece waits for more of a response while the client stays connected, and no
// longer than the limit if that is above 0. The limit counts from the end of the
// request, because an instance may send nothing before.
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
		if c.body.isStreaming() {
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
