// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/internal/router/http1"
)

// An exchange is one request that net/http forwards, with its response.
type exchange struct {
	router  *Router
	pool    *pool
	record  record
	session string
	choice  chosen
	client  float64 // position of the client, or anywhere
	fresh   string  // cookie of a client without one
	caller  string  // id of the client's allocation; "": not known
	secure  bool    // reports whether the router or a trusted proxy received the request over HTTPS
	path    string
	query   string
	body    countedBody
	memory  []byte // a small body, which the router can send again
	reading watch  // of the response
	grpc    bool   // reports whether the request is a gRPC call
	isHTTP1 bool
	target  target
	tunnel  *countedTunnel // of an upgraded connection
}

type exchangeKey struct{}

func exchangeOf(req *http.Request) *exchange {
	return req.Context().Value(exchangeKey{}).(*exchange)
}

func isGRPC(contentType string) bool {
	rest, ok := strings.CutPrefix(contentType, "application/grpc")
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
}

// newExchange returns the exchange of a request, whose target is still unknown.
func (r *Router) newExchange(req *http.Request) *exchange {
	x := &exchange{router: r, grpc: isGRPC(req.Header.Get("Content-Type")), isHTTP1: req.ProtoMajor == 1, client: anywhere}
	host, _, _ := net.SplitHostPort(req.RemoteAddr)
	x.record = record{
		begun: time.Now(), id: req.Header.Get("X-Request-Id"), client: host, method: req.Method, host: req.Host, target: req.RequestURI,
		proto: "HTTP/2", agent: req.UserAgent(), referer: req.Referer(),
	}
	if x.isHTTP1 {
		x.record.proto = req.Proto
	}
	if !isRequestID([]byte(x.record.id)) {
		x.record.id = newRequestID()
	}
	x.record.logged = r.access != nil && r.access.wants()
	return x
}

// serveExchange responds to a request of net/http's server.
func (r *Router) serveExchange(forward *httputil.ReverseProxy, w http.ResponseWriter, req *http.Request) {
	x := r.newExchange(req)
	defer func() {
		x.record.in = x.body.n.Load()
		if t := x.tunnel; t != nil {
			x.record.in, x.record.out = t.in.Load(), t.out.Load()
		}
		r.finish(&x.record)
	}()
	refused := x.find(req)
	control := http.NewResponseController(w)
	response := &countedWriter{ResponseWriter: w, n: &x.record.out, plain: x.isHTTP1 && req.ProtoMinor == 0}
	x.body.ReadCloser, x.body.bound, x.body.isHTTP1 = req.Body, r.config.MaxBody, x.isHTTP1
	if x.pool == nil || !x.pool.key.grpc { // gRPC streams may pause indefinitely
		x.body.watch.limit, x.body.watch.over = r.config.BodyTimeout, func() { control.SetReadDeadline(past) }
		response.watch.limit, response.watch.over = r.config.BodyTimeout, func() { control.SetWriteDeadline(past) }
	}
	defer x.body.watch.stop() // net/http forbids the controller after this function returns
	defer response.watch.stop()
	if x.isHTTP1 {
		control.EnableFullDuplex()
		defer x.leaveBody(control)
	}
	if refused == nil {
		refused = x.load(req)
	}
	if refused != nil {
		x.refuse(response, refused)
		return
	}
	if x.pool.sticky != "" {
		if cookie, err := req.Cookie(x.pool.sticky); err == nil {
			x.session = cookie.Value
		}
	}
	if x.pool.byClient {
		value := ""
		if cookie, err := req.Cookie(clientCookie); err == nil {
			value = cookie.Value
		}
		x.client, x.fresh = clientOf(value)
	}
	req = req.WithContext(context.WithValue(req.Context(), exchangeKey{}, x))
	forward.ServeHTTP(response, req)
}

// find checks a request, and finds its pool.
func (x *exchange) find(req *http.Request) *refusal {
	r := x.router
	target, refused := targetOf(req)
	if refused != nil {
		return refused
	}
	x.record.target, x.path = string(target), "*"
	if target[0] == '/' {
		path, query := http1.SplitTarget(target)
		x.path, x.query = path, string(query)
	}
	x.choose(req)
	switch bound := r.config.MaxBody; {
	case x.choice.refused != nil:
		r.countUnrouted(x.choice.refused)
		return x.choice.refused
	case x.pool == nil:
		r.noRoute.Add(1)
		return noRoute([]byte(req.Host), target)
	case bound > 0 && req.ContentLength > bound:
		return tooLarge(bound)
	case x.pool.key.grpc && x.isHTTP1:
		return errNeedsHTTP2
	}
	x.record.counts = x.pool.counts
	return nil
}

// choose finds the pool of a request.
func (x *exchange) choose(req *http.Request) {
	peer, _ := netip.ParseAddr(x.record.client)
	asked := asked{
		host: http1.HostName([]byte(req.Host)), path: x.path, target: x.record.target, tls: req.TLS != nil, grpc: x.grpc, peer: peer.Unmap(), trusted: x.router.trusts(peer), origin: headerOrigin(req.Header),
	}
	if fields := req.Header[stackField]; len(fields) > 0 {
		asked.stack, asked.stacks = fields[0], len(fields)
	}
	asked.secure = asked.tls || asked.trusted && strings.EqualFold(req.Header.Get("X-Forwarded-Proto"), "https")
	x.secure = asked.secure
	x.choice = x.router.choose(x.router.table.Load(), &asked)
	x.pool = x.choice.pool
}

type headerOrigin http.Header

func (h headerOrigin) forwardedFor() string { return strings.Join(h["X-Forwarded-For"], ",") }

// targetOf returns the target of a request in origin form. It refuses a request
// that HTTP/2 can carry, but that HTTP/1.1 cannot carry or that HTTP/1.1 servers
// read differently: instances speak HTTP/1.1.
func targetOf(req *http.Request) ([]byte, *refusal) {
	_, target, err := http1.ParseTarget([]byte(req.Method), []byte(req.RequestURI))
	switch {
	case !http1.IsToken([]byte(req.Method)):
		return nil, bad("the method is not a word")
	case !http1.IsHost([]byte(req.Host)):
		return nil, bad("the host is not a name with a port")
	case err != nil:
		return nil, refusalOf(err)
	case !http1.IsTarget(target), req.ProtoMajor != 1 && string(target) != req.RequestURI:
		return nil, bad("the target is not a path")
	}
	return target, nil
}

// load reads a small body before the router picks an instance: a slow client
// then does not occupy an instance, and the router can send the body again.
func (x *exchange) load(req *http.Request) *refusal {
	n := req.ContentLength
	if n <= 0 || n > inMemory || x.pool.key.grpc || req.Header.Get("Expect") != "" {
		return nil
	}
	memory := make([]byte, n)
	_, err := io.ReadFull(&x.body, memory)
	switch refused, ok := err.(*refusal); {
	case ok:
		return refused
	case err != nil:
		return errClientLeft
	}
	x.memory = memory
	x.body.ended.Store(true)
	return nil
}

// bodyOf returns the body of the next attempt.
func (x *exchange) bodyOf(req *http.Request) (body io.ReadCloser, again func() (io.ReadCloser, error)) {
	switch {
	case x.memory != nil:
		again = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(x.memory)), nil }
		body, _ = again()
		return body, again
	case req.Body != nil && req.Body != http.NoBody:
		return io.NopCloser(&x.body), nil // not closed, because another attempt may send it
	}
	return req.Body, nil
}

// leaveBody limits how long net/http waits for the rest of a request's body after
// the response.
func (x *exchange) leaveBody(control *http.ResponseController) {
	if x.tunnel == nil && !x.body.isRead() {
		control.SetReadDeadline(time.Now().Add(lingerTime))
	}
}

// rewrite completes the request that an instance receives, except for its
// destination.
func (r *Router) rewrite(p *httputil.ProxyRequest) {
	x := exchangeOf(p.In)
	p.Out.URL.Scheme, p.Out.URL.Host = "http", "instance" // attempt replaces the URL
	p.Out.Host = p.In.Host
	peer, _ := netip.ParseAddr(x.record.client)
	p.SetXForwarded()
	if r.trusts(peer) {
		for _, name := range []string{"X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded"} {
			if before := p.In.Header[name]; before != nil {
				p.Out.Header[name] = slices.Clone(before)
			}
		}
		if before := p.In.Header["X-Forwarded-For"]; before != nil {
			p.Out.Header.Set("X-Forwarded-For", strings.Join(before, ", ")+", "+x.record.client)
		}
	} else {
		for _, name := range []string{"X-Real-Ip", "X-Forwarded-Port", "X-Forwarded-Prefix"} {
			p.Out.Header.Del(name)
		}
	}
	p.Out.Header.Del(stackField)
	if x.choice.stack != "" {
		p.Out.Header.Set(stackField, x.choice.stack)
	}
	for name := range p.Out.Header {
		if name == "Proxy" || name == "Http2-Settings" || http1.LooksLikeAnother([]byte(name)) {
			delete(p.Out.Header, name)
		}
	}
	if protocol := p.Out.Header.Get("Upgrade"); !http1.MayUpgradeTo([]byte(protocol)) || p.In.ContentLength != 0 || !p.In.ProtoAtLeast(1, 1) {
		p.Out.Header.Del("Connection")
		p.Out.Header.Del("Upgrade")
	}
	node := "for=" + forwardedNode(peer)
	if x.record.host != "" {
		node += ";host=\"" + x.record.host + "\""
	}
	proto := "http"
	if p.In.TLS != nil {
		proto = "https"
	}
	p.Out.Header.Add("Forwarded", node+";proto="+proto)
	p.Out.Header.Set("X-Request-Id", x.record.id)
}
