// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package uiproxy serves the web UI of a cluster on a loopback address, to the browsers of one user. Such a
// browser needs not know the authority of the cluster's certificates, because the proxy verifies the
// servers.
//
// The proxy gives no rights. It has neither a token nor a certificate, and marks its requests as those of
// others, so that an agent that trusts its process wants a token nevertheless. It also refuses other
// users of the machine, and pages of other sites.
package uiproxy

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/ui"
)

// Config configures a Proxy.
type Config struct {
	Port      int               // of 127.0.0.1; 0: a free one
	Target    *url.URL          // address of the agent; nil: the proxy only sends browsers to Start
	Transport http.RoundTripper // verifies the agent, and adds no token

	// UserOf returns the user of the process at the other end of a connection; nil asks the kernel.
	UserOf func(local, remote netip.AddrPort) (uint32, error)
}

// A Proxy is a web server for the browsers of one user. Make one with Listen.
type Proxy struct {
	listener net.Listener
	visitors visitors
	start    *start
	reverse  *httputil.ReverseProxy // nil: none
}

// Listen opens the port of a proxy.
func Listen(c Config) (*Proxy, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)))
	if err != nil {
		return nil, api.Errorf(api.CodeUnavailable, "serve the web UI on this machine: %v; choose another port with -port", err)
	}
	p := &Proxy{listener: l, start: newStart()}
	if p.visitors, err = newVisitors(l.Addr().String(), c.UserOf); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if c.Target != nil {
		p.reverse = &httputil.ReverseProxy{
			Rewrite:   func(r *httputil.ProxyRequest) { rewrite(r, c.Target) },
			Transport: c.Transport, FlushInterval: -1, ErrorHandler: fail,
			ErrorLog: log.New(io.Discard, "", 0), // a browser that leaves is no error
		}
	}
	return p, nil
}

// Address returns the URL of the proxy.
func (p *Proxy) Address() string { return "http://" + p.listener.Addr().String() }

// Start returns an address that leads a browser to another one, once, and a channel that is closed
// then. Every user of the machine can read the arguments of a browser, so that these must not contain a code.
func (p *Proxy) Start(to string) (address string, opened <-chan struct{}) {
	p.start.lead(to)
	return p.Address() + p.start.path, p.start.opened
}

// Close stops listening. Serve does that too.
func (p *Proxy) Close() error { return p.listener.Close() }

// endPatience bounds the wait for answers when a proxy ends.
const endPatience = time.Second

// Serve serves browsers until the context ends. Then it ends all connections.
func (p *Proxy) Serve(ctx context.Context) error {
	s := &http.Server{
		Handler: p, ConnContext: p.visitors.mark, BaseContext: func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0),
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(p.listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
		defer cancel()
		s.Shutdown(within) // the browser receives the answer that it waits for
		err := s.Close()
		<-ended
		return err
	}
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := p.visitors.check(r); err != nil {
		refuse(w, r, err)
		return
	}
	switch path := r.URL.Path; {
	case path == p.start.path:
		p.start.ServeHTTP(w, r)
	case p.reverse != nil && (path == "/" || ui.Claims(path) || strings.HasPrefix(path, "/v1/")):
		p.reverse.ServeHTTP(w, r)
	default:
		refuse(w, r, api.Errorf(api.CodeNotFound, "%.100q is no page of the web UI: open the address that `reeve ui` prints", path))
	}
}

// rewrite makes a request for the agent from that of a browser. The proxy has checked what browsers say about the
// site of a request, and the agent has another host.
func rewrite(r *httputil.ProxyRequest, target *url.URL) {
	r.SetURL(target)
	h := r.Out.Header
	for name := range h {
		if name == "Origin" || name == "Referer" || name == "Cookie" || strings.HasPrefix(name, "Sec-Fetch-") {
			delete(h, name)
		}
	}
	h.Set(door.CallerHeader, door.OfOthers)
}

// fail answers a request that the agent did not answer.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	refuse(w, r, api.Errorf(api.CodeUnavailable, "no server of the cluster answers: %v", err))
}
