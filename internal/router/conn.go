// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router/http1"
)

// A conn is a client's HTTP/1 connection. One goroutine serves it from its first
// byte to its last.
type conn struct {
	wire
	router    *Router
	peer      netip.Addr
	peerText  string
	node      string // peer, in the syntax of the Forwarded field
	trusted   bool   // reports whether the peer is a trusted proxy
	forwarded string // fields that are equal for all its requests

	idle atomic.Bool // reports whether the connection is between two requests

	stack     string  // field Reeve-Stack that the instance receives; "": none
	previewed bool    // reports whether that field of the client chose the stack
	position  float64 // of the client, or anywhere
	newClient string  // cookie of a client without one

	caller     peer               // of a client that calls stacks
	called     *stackCounters     // of the last noted call
	calledWant api.FeatureVersion // of its pool
	calledAt   int64              // ticks of that call

	request  http1.Request
	response http1.Response
	out      []byte // the next head to write
	body     body
	record   record
}

const (
	clientRoom = 4 << 10  // initial size of a client's read buffer
	largeRoom  = 16 << 10 // a larger buffer is replaced by a small one between requests
)

// preface is the beginning of an HTTP/2 connection. EndOfHead finds its end.
const preface = "PRI * HTTP/2.0\r\n\r\n"

func (r *Router) serveConn(nc *net.TCPConn) {
	w, err := newWire(nc, clientRoom)
	if err != nil {
		nc.Close()
		return
	}
	peer := nc.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
	c := &conn{wire: w, router: r, peer: peer, peerText: peer.String(), node: forwardedNode(peer), trusted: r.trusts(peer)}
	c.forwarded = "X-Forwarded-For: " + c.peerText + "\r\nX-Forwarded-Proto: http\r\n"
	if !r.conns.add(c) {
		nc.Close()
		return
	}
	defer r.conns.remove(c)
	for first := true; ; first = false {
		head, err := c.readHead()
		switch {
		case err != nil:
			if refused, ok := err.(*refusal); ok {
				c.begin()
				c.refuse(refused)
				c.linger()
			}
		case first && string(head) == preface:
			c.forever()
			handed := newHandedConn(c.nc, append(append([]byte(nil), head...), c.unread()...))
			r.handOver(r.handed, handed, handed)
			return
		case c.handle(head) && !r.closing.Load():
			continue
		}
		c.close()
		return
	}
}

func (c *conn) isIdle() bool { return c.idle.Load() }

// readHead waits for the head of a request. It returns a refusal if the client
// must receive a response, and any other error if no request arrives.
func (c *conn) readHead() ([]byte, error) {
	c.shrink()
	c.compact()
	c.record.begun = time.Time{}
	var begun time.Time
	seen := 0
	for {
		for c.r+1 < c.w && c.buf[c.r] == '\r' && c.buf[c.r+1] == '\n' && c.r < 4 {
			c.r += 2 // some clients send an extra line after a body
		}
		if end := http1.EndOfHead(c.unread(), seen); end > 0 {
			if end > c.router.config.MaxHeader {
				return nil, errHeadTooLarge
			}
			head := c.buf[c.r : c.r+end]
			c.r += end
			if begun.IsZero() {
				begun = time.Now()
			}
			c.record.begun = begun
			return head, nil
		}
		seen = c.w - c.r
		if seen >= c.router.config.MaxHeader || !c.grow(c.router.config.MaxHeader+4) {
			return nil, errHeadTooLarge
		}
		now := time.Now()
		if seen == 0 {
			c.idle.Store(true)
			c.waitRead(now, c.router.config.IdleTimeout/2)
		} else if begun.IsZero() {
			begun = now
			c.readExactlyBy(begun.Add(c.router.config.HeaderTimeout))
		}
		err := c.fill()
		c.idle.Store(false)
		if err != nil {
			if seen > 0 && isTimeout(err) {
				return nil, &refusal{status: http.StatusRequestTimeout, why: "the request's head did not come in time"}
			}
			return nil, err
		}
	}
}

// shrink replaces the buffer that an earlier request enlarged.
func (c *conn) shrink() {
	if len(c.buf) > largeRoom && c.w-c.r < clientRoom {
		small := make([]byte, clientRoom)
		c.w = copy(small, c.unread())
		c.buf, c.r = small, 0
	}
}

var errHeadTooLarge = &refusal{status: http.StatusRequestHeaderFieldsTooLarge, why: "the request's head is too large"}

// begin clears the state of the previous request.
func (c *conn) begin() {
	begun := c.record.begun
	if begun.IsZero() {
		begun = time.Now()
	}
	c.record = record{begun: begun, client: c.peerText, proto: "HTTP/1.1"}
	c.stack, c.previewed, c.position, c.newClient = "", false, anywhere, ""
	c.request.Reset()
}

// handle responds to one request, and reports whether another one may follow on
// the connection.
func (c *conn) handle(head []byte) bool {
	c.begin()
	if err := c.request.Parse(head); err != nil {
		c.refuse(refusalOf(err))
		c.linger()
		return false
	}
	q := &c.request
	path, query := "*", []byte(nil)
	if q.Target[0] == '/' {
		path, query = http1.SplitTarget(q.Target)
	}
	c.record.request(q)
	asked := asked{host: http1.HostName(q.Host), path: path, target: http1.View(q.Target), peer: c.peer, trusted: c.trusted, secure: c.isSecure(), origin: c}
	for i := range q.Fields {
		switch f := &q.Fields[i]; f.Kind {
		case http1.RequestID:
			if c.record.id == "" && isRequestID(f.Value) {
				c.record.id = string(f.Value)
			}
		case http1.ContentType:
			asked.grpc = isGRPC(http1.View(f.Value))
		case http1.Stack:
			asked.stack = http1.View(f.Value)
			asked.stacks++
		}
	}
	if c.record.id == "" {
		c.record.id = newRequestID()
	}
	to := c.router.choose(c.router.table.Load(), &asked)
	p := to.pool
	c.stack, c.previewed = to.stack, to.preview
	keep := true
	if refused := c.prepare(p, to.refused); refused != nil {
		c.refuse(refused) // sets q.Close if the connection ends
	} else {
		keep = c.forward(p, path, query)
	}
	if !c.body.finish(c) {
		if !c.record.truncated { // the end of a truncated response must not look regular
			c.linger()
		}
		return false
	}
	return keep && !q.Close
}

// prepare checks the request before the router picks an instance, and reads a
// small body.
func (c *conn) prepare(p *pool, refused *refusal) *refusal {
	q := &c.request
	c.body.begin(q)
	switch bound := c.router.config.MaxBody; {
	case refused != nil:
		c.router.countUnrouted(refused)
		return refused
	case p == nil:
		c.router.noRoute.Add(1)
		return noRoute(q.Host, q.Target)
	case bound > 0 && q.Length > bound:
		return tooLarge(bound)
	case p.key.grpc:
		return errNeedsHTTP2
	}
	c.record.counts = p.counts
	return c.body.load(c)
}

// forwardedFor returns the addresses that proxies reported for the request.
func (c *conn) forwardedFor() string {
	var all []string
	for i := range c.request.Fields {
		if f := &c.request.Fields[i]; f.Kind == http1.ForwardedFor {
			all = append(all, string(f.Value))
		}
	}
	return strings.Join(all, ",")
}

// isSecure reports whether a trusted proxy received the request over HTTPS.
func (c *conn) isSecure() bool {
	if !c.trusted {
		return false
	}
	for i := range c.request.Fields {
		if f := &c.request.Fields[i]; f.Kind == http1.ForwardedProto && http1.EqualFold(f.Value, "https") {
			return true
		}
	}
	return false
}

// send writes to the client. It fails if the client does not read.
func (c *conn) send(b []byte) error {
	_, err := c.write(b, c.router.config.BodyTimeout)
	return err
}

// linger ends a connection whose client may still be sending, so that the client
// can read the response first: closing a socket that holds unread bytes discards
// the bytes written to it.
func (c *conn) linger() {
	c.nc.CloseWrite()
	c.readExactlyBy(time.Now().Add(lingerTime))
	io.CopyN(io.Discard, c.nc, lingerBytes)
}

const (
	lingerTime  = time.Second
	lingerBytes = 1 << 20
)
