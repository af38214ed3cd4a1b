// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Router is one running router.
type Router struct {
	config   Config
	listener *net.TCPListener
	access   *accessLog
	server   *http.Server // of the connections that net/http serves
	handed   chan net.Conn
	secure   *secure // HTTPS; nil without

	stackNames string // end of the names of stacks: ".stack.ZONE"

	table     atomic.Pointer[table]
	connected atomic.Bool
	updated   atomic.Int64

	applying sync.Mutex // guards applier
	applier  *applier
	ports    ports

	serving sync.WaitGroup // connections and listeners
	conns   connections
	tunnels tunnels
	closing atomic.Bool
	stopped chan struct{} // closed when the router accepts no more connections

	requests, refused, noRoute atomic.Uint64
}

// New listens on the router's address. The router forwards nothing before Run.
func New(config Config) (*Router, error) {
	r := &Router{
		config: config.withDefaults(), applier: newApplier(), handed: make(chan net.Conn), stopped: make(chan struct{}),
		ports: ports{open: map[int]*net.TCPListener{}, problems: map[int]string{}},
	}
	r.table.Store(r.applier.table)
	r.stackNames = ".stack." + strings.ToLower(strings.TrimSuffix(r.config.Zone, "."))
	var err error
	if r.listener, err = listenFor(r.config.HTTPAddr, "-router-http"); err != nil {
		return nil, err
	}
	if err = r.openSecure(); err != nil {
		r.Close()
		return nil, err
	}
	if r.config.AccessLog != "" {
		if r.access, err = openAccessLog(r.config.AccessLog, r.config.AccessFormat, r.config.AccessSample); err != nil {
			r.Close()
			return nil, api.Errorf(api.CodeUnavailable, "the router's access log cannot be opened: %v", err)
		}
	}
	r.server = r.newServer()
	return r, nil
}

// Addr returns the address of HTTP, as host:port.
func (r *Router) Addr() string { return r.listener.Addr().String() }

// SecureAddr returns the address of HTTPS, as host:port; "" without HTTPS.
func (r *Router) SecureAddr() string {
	if r.secure == nil {
		return ""
	}
	return r.secure.listener.Addr().String()
}

// Close releases the address of a router that does not run. Run releases it at
// its end.
func (r *Router) Close() error {
	if r.secure != nil {
		r.secure.listener.Close()
	}
	return r.listener.Close()
}

// listenFor listens on an address of HTTP or HTTPS, which a flag sets.
func listenFor(address, flag string) (*net.TCPListener, error) {
	l, err := listen(address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, api.Errorf(api.CodeUnavailable, "the router's address %s is already in use: stop what listens there, or choose another one with %s", address, flag)
	}
	if err != nil {
		return nil, api.Errorf(api.CodeUnavailable, "the router cannot listen on %s: %s", address, inWords(err))
	}
	return l, nil
}

const upkeepInterval = 2 * time.Second

// Run routes until the context ends. Then it accepts no more connections, waits
// for requests in flight up to DrainTimeout, and closes the remaining ones.
func (r *Router) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	logging, stopLogging := context.WithCancel(context.WithoutCancel(ctx))
	if r.access != nil {
		loops.Go(func() { r.access.run(logging) })
	}
	serve := r.serveConn
	if r.config.Engine == EngineStandard {
		serve = r.serveStandard
	}
	r.serving.Go(func() { r.accept(r.listener, serve) })
	loops.Go(func() { r.server.Serve(handedConns{r, r.handed}) })
	if s := r.secure; s != nil {
		r.serving.Go(func() { r.accept(s.listener, r.serveSecure) })
		loops.Go(func() { s.server.Serve(handedConns{r, s.handed}) })
		loops.Go(func() { s.certs.Run(ctx) })
		if s.issuer != nil {
			loops.Go(func() { s.issuer.Run(ctx) })
		}
	}
	loops.Go(func() { r.followCatalog(ctx) })
	loops.Go(func() { r.upkeep(ctx) })
	loops.Go(func() { r.report(ctx) })
	<-ctx.Done()
	r.stop()
	stopLogging()
	loops.Wait()
	return nil
}

// followCatalog applies the catalog's updates. It keeps the last table while the
// catalog is unreachable.
func (r *Router) followCatalog(ctx context.Context) {
	if r.config.Source == nil {
		return
	}
	r.config.Source(ctx, func(u *api.CatalogUpdate) error {
		r.Apply(u)
		r.connected.Store(true)
		return nil
	}, func(err error) {
		if r.connected.Swap(false) && ctx.Err() == nil {
			r.config.Logger.Warn("the router lost the catalog; it continues with its last table", "error", err)
		}
	})
}

// Apply replaces the table with the one after an update. Instances that leave
// receive no later requests.
func (r *Router) Apply(u *api.CatalogUpdate) {
	r.applying.Lock()
	defer r.applying.Unlock()
	now := time.Now()
	left := r.applier.apply(u, now)
	r.publish(now)
	for _, i := range left {
		i.leave()
	}
}

// publish makes the applier's table the current one, after it has opened the
// ports of new TCP routes.
func (r *Router) publish(now time.Time) {
	if !r.closing.Load() {
		r.follow(r.applier.listens)
	}
	r.table.Store(r.applier.table)
	r.updated.Store(now.UnixNano())
}

// upkeep closes unused connections, removes routes that have had no instance for
// a long time, and retries ports that did not open.
func (r *Router) upkeep(ctx context.Context) {
	tick := time.NewTicker(upkeepInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			r.tidy(now)
			r.followHosts()
		}
	}
}

func (r *Router) tidy(now time.Time) {
	r.applying.Lock()
	defer r.applying.Unlock()
	for _, i := range r.applier.instances {
		i.idle.sweep(ticks(now))
	}
	if r.applier.expire(now) || r.ports.failed() {
		r.publish(now)
	}
}

func (r *Router) stop() {
	r.applying.Lock() // later updates open no ports
	r.closing.Store(true)
	r.follow(nil)
	r.applying.Unlock()
	r.Close()
	close(r.stopped)
	servers := []*http.Server{r.server}
	if r.secure != nil {
		r.secure.handshakes.close()
		servers = append(servers, r.secure.server)
	}
	graceful, cancel := context.WithTimeout(context.Background(), r.config.DrainTimeout)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, s := range servers {
			s.Shutdown(graceful)
		}
		r.serving.Wait()
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for over := graceful.Done(); ; {
		r.conns.close(over == nil)
		select {
		case <-done:
			r.applying.Lock()
			defer r.applying.Unlock()
			for _, i := range r.applier.instances {
				i.leave()
			}
			return
		case <-over:
			over = nil
			for _, s := range servers {
				s.Close()
			}
			r.tunnels.close()
		case <-tick.C:
		}
	}
}

// A client is a connection of an HTTP client.
type client interface {
	isIdle() bool // reports whether the router may close it when it stops
	close()
}

// connections holds the connections of HTTP clients.
type connections struct {
	mu     sync.Mutex
	open   map[client]struct{}
	closed bool
}

func (s *connections) add(c client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.open == nil {
		s.open = map[client]struct{}{}
	}
	s.open[c] = struct{}{}
	return true
}

func (s *connections) remove(c client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

func (s *connections) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// close closes the idle connections, or all.
func (s *connections) close(all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = s.closed || all
	for c := range s.open {
		if all || c.isIdle() {
			c.close()
		}
	}
}

// tunnels holds the connections of TCP routes and of upgraded requests.
type tunnels struct {
	mu     sync.Mutex
	open   map[*net.TCPConn]struct{}
	closed bool
}

func (t *tunnels) add(nc *net.TCPConn) *net.TCPConn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[*net.TCPConn]struct{}{}
	}
	t.open[nc] = struct{}{}
	if t.closed {
		nc.Close()
	}
	return nc
}

func (t *tunnels) remove(nc *net.TCPConn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, nc)
}

func (t *tunnels) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open)
}

func (t *tunnels) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for nc := range t.open {
		nc.Close()
	}
}
