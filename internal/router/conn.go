// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"
)

// A conn is a client's HTTP/1 connection, from its first byte to its last. One
// goroutine serves it.
type conn struct {
	wire
	router    *Router
	peer      netip.Addr
	peerText  string
	node      string // peer, as the Forwarded field has it
	believed  bool
	forwarded string // fields that are the same for all its requests

	idle atomic.Bool // between two requests

	request request
	answer  answer
	out     []byte // a head to write
	body    body
	record  record
}

const (
	clientRoom = 4 << 10 // bytes of a request read at once, as long as they suffice
	largeRoom  = 16 << 10
)

// preface is how HTTP/2 begins; HTTP/1 takes it for a head.
const preface = "PRI * HTTP/2.0\r\n\r\n"

func (r *Router) serveConn(nc *net.TCPConn) {
	w, err := newWire(nc, clientRoom)
	if err != nil {
		nc.Close()
		return
	}
	peer := nc.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
	c := &conn{wire: w, router: r, peer: peer, peerText: peer.String(), node: forwardedNode(peer), believed: r.believes(peer)}
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
			r.handOver(c, head)
			return
		case c.handle(head) && !r.closing.Load():
			continue
		}
		c.close()
		return
	}
}

// readHead waits for a request's head. An error that is no refusal means that
// there is none to come.
func (c *conn) readHead() ([]byte, error) {
	if len(c.buf) > largeRoom && c.w-c.r < clientRoom {
		small := make([]byte, clientRoom)
		c.w = copy(small, c.unread())
		c.buf, c.r = small, 0
	}
	c.compact()
	c.record.begun = time.Time{}
	var begun time.Time
	seen := 0
	for {
		for c.r+1 < c.w && c.buf[c.r] == '\r' && c.buf[c.r+1] == '\n' && c.r < 4 {
			c.r += 2 // some clients end a body with one line too many
		}
		if end := endOfHead(c.unread(), seen); end > 0 {
			if end > c.router.config.MaxHeader {
				return nil, tooLong
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
			return nil, tooLong
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
				return nil, &refusal{http.StatusRequestTimeout, "the request's head did not come in time"}
			}
			return nil, err
		}
	}
}

var tooLong = &refusal{http.StatusRequestHeaderFieldsTooLarge, "the request's head is too large"}

// begin clears what is known of the request before.
func (c *conn) begin() {
	begun := c.record.begun
	if begun.IsZero() {
		begun = time.Now()
	}
	c.record = record{begun: begun, client: c.peerText, proto: "HTTP/1.1"}
	q := &c.request
	q.method, q.target, q.host, q.fields, q.close = nil, nil, nil, q.fields[:0], true
}

// handle answers one request, and reports whether another one may follow on the
// connection.
func (c *conn) handle(head []byte) bool {
	c.begin()
	if err := c.request.parse(head); err != nil {
		c.refuse(err)
		c.linger()
		return false
	}
	q := &c.request
	path, query := "*", []byte(nil)
	if q.target[0] == '/' {
		path, query = cutTarget(q.target)
	}
	c.record.request(q)
	grpc := false
	for i := range q.fields {
		switch f := &q.fields[i]; f.kind {
		case fieldRequestID:
			if c.record.id == "" && isRequestID(f.value) {
				c.record.id = string(f.value)
			}
		case fieldContentType:
			grpc = isGRPC(view(f.value))
		}
	}
	if c.record.id == "" {
		c.record.id = newRequestID()
	}
	p := c.router.table.Load().find(hostName(q.host), path, grpc)
	keep := true
	if refused := c.prepare(p); refused != nil {
		c.refuse(refused) // which says whether the connection ends
	} else {
		keep = c.forward(p, path, query)
	}
	if !c.body.finish(c) {
		if !c.record.truncated { // whose end must not look like one
			c.linger()
		}
		return false
	}
	return keep && !q.close
}

// prepare looks at what can be said before an instance is chosen.
func (c *conn) prepare(p *pool) *refusal {
	q := &c.request
	c.body.begin(q)
	switch bound := c.router.config.MaxBody; {
	case p == nil:
		c.router.noRoute.Add(1)
		return noRoute(q.host, q.target)
	case bound > 0 && q.length > bound:
		return tooLarge(bound)
	case p.key.grpc:
		return &refusal{http.StatusUpgradeRequired, "this route leads to gRPC: speak HTTP/2 to it, without TLS and with prior knowledge"}
	}
	c.record.counts = p.counts
	return c.body.load(c)
}

// send writes to the client, and gives up when it does not read.
func (c *conn) send(b []byte) error {
	_, err := c.write(b, c.router.config.BodyTimeout)
	return err
}

// linger ends a connection whose client may still be sending, in a way that
// lets it read the answer first: a socket that is closed with something unread
// takes back what was written to it.
func (c *conn) linger() {
	c.nc.CloseWrite()
	c.readExactlyBy(time.Now().Add(lingerTime))
	io.CopyN(io.Discard, c.nc, lingerBytes)
}

const (
	lingerTime  = time.Second
	lingerBytes = 1 << 20
)
