// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router/http1"
)

// forward sends a request to instances until one of them responds, and delivers
// the response. It reports whether the client's connection can carry another
// request.
func (c *conn) forward(p *pool, path string, query []byte) bool {
	c.identify(p)
	var room [attempts]*instance
	tried := room[:0]
	name := ""
	if p.sticky != "" {
		name = c.cookie(p.sticky)
	}
	if p.byClient {
		c.position, c.newClient = clientOf(c.cookie(clientCookie))
	}
	var last *refusal
	for {
		now := time.Now()
		t, ok := p.pickAt(c.position, name, tried, ticks(now))
		if !ok {
			if last == nil {
				last = noInstance(p)
			}
			c.refuse(last)
			return true
		}
		if len(tried) > 0 {
			p.counts.retries.Add(1)
			tried[len(tried)-1].retried()
		}
		tried = append(tried, t.instance)
		c.record.attempts, c.record.instance = len(tried), t.instance
		t.requests.Add(1)
		t.outstanding.Add(1)
		keep, again, refused := c.attempt(p, t, name, path, query, now)
		t.outstanding.Add(-1)
		if refused == nil {
			c.noteCall(p, t.instance, now)
			c.finish()
			return keep
		}
		last = refused
		if !again || len(tried) == attempts {
			c.refuse(refused)
			return true
		}
		p = c.router.current(p)
	}
}

// current returns the newest version of a pool: since the router picked an
// instance that did not take the request, instances may have left and joined.
func (r *Router) current(p *pool) *pool {
	if p.unit.Unit != "" {
		if u := r.table.Load().unit(p.unit); u != nil {
			if newest := u.ways[wayOf(p.key.grpc)].find(p.want); newest != nil {
				return newest
			}
		}
		return p
	}
	if newest := r.table.Load().get(p.key); newest != nil {
		return newest
	}
	return p
}

// cookie returns the value of a cookie of the request.
func (c *conn) cookie(name string) string {
	for i := range c.request.Fields {
		if f := &c.request.Fields[i]; f.Kind == http1.Cookie {
			if v := session(http1.View(f.Value), name); v != "" {
				return v
			}
		}
	}
	return ""
}

// attempt sends the request to one instance. If it returns a refusal, the client
// has received nothing; again then reports whether the router may try another
// instance.
func (c *conn) attempt(p *pool, t target, name, path string, query []byte, now time.Time) (keep, again bool, refused *refusal) {
	c.writeRequest(t, path, query)
	for u := t.idle.take(ticks(now)); ; u = nil {
		if u == nil {
			var err error
			if u, err = c.connect(t); err != nil {
				p.unreachable(t.instance, err)
				return false, true, &refusal{status: http.StatusBadGateway, why: fmt.Sprintf("the instance %s at %s took no connection: %s", api.ShortID(t.alloc), t.address, inWords(err))}
			}
		}
		if t.gone.Load() {
			u.close() // it may not have accepted the connection
			return false, true, noInstance(p)
		}
		sent, err := c.sendRequest(u)
		if err == nil {
			err = c.awaitResponse(p, t, u)
		}
		if err == nil {
			return c.deliver(p, t, name, u)
		}
		u.close()
		if r := c.pumpRefusal(); r != nil {
			return false, false, r
		}
		harmless := sent == 0 || errors.Is(err, errNoResponse) && isIdempotent(http1.View(c.request.Method))
		if !harmless || !c.body.isReplayable() {
			return false, false, c.unanswered(p, t, err)
		}
		if u.reused {
			continue // the instance closed an idle connection; it may be healthy
		}
		r := c.unanswered(p, t, err)
		if !t.gone.Load() {
			c.record.dropped++ // a request that crashes instances must not crash all of them
		}
		return false, c.record.dropped < 2, r
	}
}

// isIdempotent reports whether a request may be executed twice.
func isIdempotent(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	return false
}

func (c *conn) connect(t target) (*upstream, error) {
	nc, err := dial(context.Background(), t.address, c.router.config.ConnectTimeout)
	if err != nil {
		return nil, err
	}
	w, err := newWire(nc, upstreamRoom)
	if err != nil {
		nc.Close()
		return nil, err
	}
	return &upstream{wire: w}, nil
}

// sendRequest sends the request, and returns the number of bytes sent.
func (c *conn) sendRequest(u *upstream) (sent int, err error) {
	limit := c.router.config.BodyTimeout
	if c.body.kind == bodyInMemory && len(c.body.memory) <= largeRoom {
		whole := append(c.out, c.body.memory...)
		sent, err = u.write(whole, limit)
		c.out = whole[:len(c.out)]
		return sent, err
	}
	if sent, err = u.write(c.out, limit); err != nil {
		return sent, err
	}
	switch c.body.kind {
	case bodyInMemory:
		_, err = u.write(c.body.memory, limit)
	case bodyStream:
		c.body.start(c, u)
	}
	return sent, err
}

var (
	errNoResponse = errors.New("it closed the connection without an answer")
	errTimeout    = errors.New("it did not answer in time")
	errClientGone = errors.New("the client went away")
)

// patience is the interval at which a waiting router checks that the client is
// still connected.
const patience = time.Second

// awaitResponse reads heads until it finds the head of the final response. It
// forwards interim responses.
func (c *conn) awaitResponse(p *pool, t target, u *upstream) error {
	limit := t.route.Timeout
	if limit <= 0 {
		limit = c.router.config.ResponseTimeout
	}
	for {
		head, err := c.readResponse(u, limit)
		if err != nil {
			return err
		}
		if err := c.response.Parse(head); err != nil {
			return fmt.Errorf("its answer is not HTTP: %w", err)
		}
		if c.response.Status >= 200 || c.response.Status == http.StatusSwitchingProtocols {
			return nil
		}
		if c.request.Minor == 1 {
			c.writeResponse(p, t, "", false)
			if c.send(c.out) != nil {
				return errClientGone
			}
		}
	}
}

// readResponse waits for the head of a response. The limit counts from the end of
// the request: the instance is not responsible for a slow client.
func (c *conn) readResponse(u *upstream, limit time.Duration) ([]byte, error) {
	u.compact()
	var deadline time.Time
	for seen := 0; ; {
		if end := http1.EndOfHead(u.unread(), seen); end > 0 {
			head := u.buf[u.r : u.r+end]
			u.r += end
			return head, nil
		}
		seen = u.w - u.r
		if !u.grow(c.router.config.MaxHeader) {
			return nil, fmt.Errorf("its answer's head is larger than %d bytes", c.router.config.MaxHeader)
		}
		now := time.Now()
		switch {
		case c.body.isStreaming():
		case deadline.IsZero():
			deadline = now.Add(limit)
		case !now.Before(deadline):
			return nil, errTimeout
		}
		if left := deadline.Sub(now); !deadline.IsZero() && left < 2*patience {
			u.readExactlyBy(deadline)
		} else {
			u.waitRead(now, patience)
		}
		switch err := u.fill(); {
		case err == nil:
		case isTimeout(err):
			if c.isGone() {
				return nil, errClientGone
			}
		case seen == 0:
			return nil, errNoResponse
		default:
			return nil, fmt.Errorf("it closed the connection within the head of its answer: %s", inWords(err))
		}
	}
}

// unanswered counts a missing response as a failure of the instance, and returns
// the refusal.
func (c *conn) unanswered(p *pool, t target, err error) *refusal {
	if errors.Is(err, errClientGone) {
		return &refusal{status: statusClientGone, why: err.Error()}
	}
	status := http.StatusBadGateway
	if errors.Is(err, errTimeout) {
		status = http.StatusGatewayTimeout
	}
	p.failed(t.instance, "no answer: "+inWords(err))
	return &refusal{status: status, why: fmt.Sprintf("the instance %s at %s gave no answer: %s", api.ShortID(t.alloc), t.address, inWords(err))}
}

// pumpRefusal returns the error that the client caused while the pump copied its
// body.
func (c *conn) pumpRefusal() *refusal {
	if c.body.pump == nil || c.body.isStreaming() {
		return nil
	}
	return c.body.pump.refused
}
