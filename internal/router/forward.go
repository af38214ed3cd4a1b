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
)

// forward offers a request to instances until one answers, and passes the
// answer on. It reports whether the client's connection can be used again.
func (c *conn) forward(p *pool, path string, query []byte) bool {
	var room [attempts]*instance
	tried := room[:0]
	name := ""
	if p.sticky != "" {
		name = c.sessionOf(p)
	}
	var last *refusal
	for {
		now := time.Now()
		t, ok := p.pick(name, tried, ticks(now))
		if !ok {
			if last == nil {
				last = nobody(p)
			}
			c.refuse(last)
			return true
		}
		if len(tried) > 0 {
			p.counts.retries.Add(1)
		}
		tried = append(tried, t.instance)
		c.record.attempts, c.record.instance = len(tried), t.instance
		t.requests.Add(1)
		t.outstanding.Add(1)
		keep, again, refused := c.attempt(p, t, name, path, query, now)
		t.outstanding.Add(-1)
		if refused == nil {
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

// current is the newest version of a pool: what did not take a request may have
// left by now, and others may have come.
func (r *Router) current(p *pool) *pool {
	if newest := r.table.Load().get(p.key); newest != nil {
		return newest
	}
	return p
}

// sessionOf is what the request's cookies say of its session.
func (c *conn) sessionOf(p *pool) string {
	for i := range c.request.fields {
		if f := &c.request.fields[i]; f.kind == fieldCookie {
			if v := session(view(f.value), p.sticky); v != "" {
				return v
			}
		}
	}
	return ""
}

// attempt offers the request to one instance. A refusal means that nothing was
// sent to the client; again, that another instance may be asked.
func (c *conn) attempt(p *pool, t target, name, path string, query []byte, now time.Time) (keep, again bool, refused *refusal) {
	c.writeRequest(t, path, query)
	again = isIdempotent(view(c.request.method)) && c.body.again()
	for u := t.idle.take(ticks(now)); ; u = nil {
		if u == nil {
			var err error
			if u, err = c.connect(t); err != nil {
				p.unreachable(t.instance, err)
				return false, true, &refusal{http.StatusBadGateway, fmt.Sprintf("the instance %s at %s took no connection: %s", api.ShortID(t.alloc), t.address, inWords(err))}
			}
		}
		if t.gone.Load() {
			u.close() // it may not even have accepted the connection
			return false, true, nobody(p)
		}
		sent, err := c.ask(u)
		if err == nil {
			err = c.awaitAnswer(p, t, u)
		}
		if err == nil {
			return c.deliver(p, t, name, u)
		}
		u.close()
		if r := c.pumpRefused(); r != nil {
			return false, false, r
		}
		untouched := sent == 0 && c.body.again() || again && errors.Is(err, errNoAnswer)
		if !untouched {
			return false, false, c.unanswered(p, t, err)
		}
		if u.reused {
			continue // it was about to be closed when it was taken; the instance may well be fine
		}
		r := c.unanswered(p, t, err)
		if !t.gone.Load() {
			c.record.dropped++ // a request that ends instances must not end them all
		}
		return false, c.record.dropped < 2, r
	}
}

// isIdempotent reports whether to carry out a request twice is as good as once.
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

// ask sends the request, and says how much of it went out.
func (c *conn) ask(u *upstream) (sent int, err error) {
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
	errNoAnswer   = errors.New("it closed the connection without an answer")
	errTimeout    = errors.New("it did not answer in time")
	errClientGone = errors.New("the client went away")
)

// patience is how long the router waits before it looks whether the client is
// still there.
const patience = time.Second

// awaitAnswer reads heads until one is the final answer's. Those before it are
// passed on.
func (c *conn) awaitAnswer(p *pool, t target, u *upstream) error {
	limit := t.route.Timeout
	if limit <= 0 {
		limit = c.router.config.ResponseTimeout
	}
	for {
		head, err := c.readAnswer(u, limit)
		if err != nil {
			return err
		}
		if err := c.answer.parse(head); err != nil {
			return fmt.Errorf("its answer is not HTTP: %w", err)
		}
		if c.answer.status >= 200 || c.answer.status == http.StatusSwitchingProtocols {
			return nil
		}
		if c.request.minor == 1 {
			c.writeAnswer(p, t, "", false)
			if c.send(c.out) != nil {
				return errClientGone
			}
		}
	}
}

// readAnswer waits for an answer's head. Its time counts from the request's
// end: however long the body takes, the instance is not to blame for it.
func (c *conn) readAnswer(u *upstream, limit time.Duration) ([]byte, error) {
	u.compact()
	var deadline time.Time
	for seen := 0; ; {
		if end := endOfHead(u.unread(), seen); end > 0 {
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
		case c.body.underWay():
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
			return nil, errNoAnswer
		default:
			return nil, fmt.Errorf("it closed the connection within the head of its answer: %s", inWords(err))
		}
	}
}

// unanswered counts that there was no answer, and says so.
func (c *conn) unanswered(p *pool, t target, err error) *refusal {
	if errors.Is(err, errClientGone) {
		return &refusal{statusClientGone, err.Error()}
	}
	status := http.StatusBadGateway
	if errors.Is(err, errTimeout) {
		status = http.StatusGatewayTimeout
	}
	p.failed(t.instance, "no answer: "+inWords(err))
	return &refusal{status, fmt.Sprintf("the instance %s at %s gave no answer: %s", api.ShortID(t.alloc), t.address, inWords(err))}
}

// pumpRefused is what the client did wrong while its body was passed on.
func (c *conn) pumpRefused() *refusal {
	if c.body.pump == nil || c.body.underWay() {
		return nil
	}
	return c.body.pump.refused
}
