// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"strconv"
	"sync"
	"time"
)

// ports holds the listeners of TCP routes. Only the applier's goroutine changes
// them.
type ports struct {
	mu       sync.Mutex
	open     map[int]*net.TCPListener
	problems map[int]string // by port, as in the log
}

// follow opens and closes listeners to match a table. The router's status shows a
// port that does not open, and upkeep retries it.
func (r *Router) follow(listens map[int]bool) {
	p := &r.ports
	p.mu.Lock()
	defer p.mu.Unlock()
	for port, l := range p.open {
		if !listens[port] {
			l.Close()
			delete(p.open, port)
		}
	}
	maps.DeleteFunc(p.problems, func(port int, _ string) bool { return !listens[port] })
	for port := range listens {
		if p.open[port] != nil {
			continue
		}
		l, err := listen(net.JoinHostPort(r.config.TCPAddress, strconv.Itoa(port)))
		if err != nil {
			why := fmt.Sprintf("TCP port %d cannot be opened: %s", port, inWords(err))
			if p.problems[port] != why {
				p.problems[port] = why
				r.config.Logger.Warn("cannot open the port of a route", "port", port, "address", r.config.TCPAddress, "error", inWords(err))
			}
			continue
		}
		delete(p.problems, port)
		p.open[port] = l
		r.serving.Go(func() { r.accept(l, func(nc *net.TCPConn) { r.serveTCP(nc, port) }) })
	}
}

func listen(address string) (*net.TCPListener, error) {
	config := net.ListenConfig{KeepAliveConfig: keepAlive}
	l, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	return l.(*net.TCPListener), nil
}

// accept serves the connections of a listener until it is closed.
func (r *Router) accept(l *net.TCPListener, serve func(*net.TCPConn)) {
	for {
		nc, err := l.AcceptTCP()
		switch {
		case err == nil:
			r.serving.Go(func() { serve(nc) })
		case errors.Is(err, net.ErrClosed):
			return
		default: // probably too many open files, until a connection ends
			r.config.Logger.Warn("cannot accept connections", "address", l.Addr().String(), "error", err)
			select {
			case <-time.After(50 * time.Millisecond):
			case <-r.stopped:
				return
			}
		}
	}
}

// serveTCP connects a client to an instance, and tries other instances if a
// connection fails.
func (r *Router) serveTCP(nc *net.TCPConn, port int) {
	p := r.table.Load().get(poolKey{listen: port})
	if p == nil {
		nc.Close()
		return
	}
	r.passTCP(nc, p, ":"+strconv.Itoa(port), nil)
}

// passTCP connects a client to an instance of a pool, which receives first before all other
// bytes of the client.
func (r *Router) passTCP(nc *net.TCPConn, p *pool, host string, first []byte) {
	open := r.tunnels.add(nc)
	defer r.tunnels.remove(open)
	defer nc.Close()
	rec := record{begun: time.Now(), id: newRequestID(), client: nc.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap().String(), proto: "TCP", host: host}
	rec.counts = p.counts
	var room [attempts]*instance
	tried := room[:0]
	for len(tried) < attempts {
		t, ok := p.pick("", tried, ticks(time.Now()))
		if !ok {
			break
		}
		if len(tried) > 0 {
			p.counts.retries.Add(1)
		}
		tried = append(tried, t.instance)
		rec.attempts, rec.instance = len(tried), t.instance
		back, err := dial(context.Background(), t.address, r.config.ConnectTimeout)
		if err != nil {
			p.unreachable(t.instance, err)
			rec.why = "the instance took no connection: " + inWords(err)
			p = r.current(p)
			continue
		}
		t.requests.Add(1)
		t.outstanding.Add(1)
		t.ejection.succeeded(ticks(time.Now()))
		other := r.tunnels.add(back)
		if _, err := back.Write(first); err == nil || len(first) == 0 {
			rec.in, rec.out = tunnel(nc, back)
			rec.in += int64(len(first))
		} else {
			back.Close()
		}
		r.tunnels.remove(other)
		t.outstanding.Add(-1)
		rec.status, rec.why = 200, ""
		rec.logged = r.access != nil && r.access.wants()
		r.finish(&rec)
		return
	}
	if rec.why == "" {
		rec.why = noInstance(p).why
	}
	rec.status = 503
	rec.logged = r.access != nil && r.access.wants()
	nc.SetLinger(0) // a reset, because a regular end would look like an empty response
	r.finish(&rec)
}
