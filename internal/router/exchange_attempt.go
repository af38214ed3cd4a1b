// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
)

// picking is a transport that picks an instance for each request.
type picking struct{ router *Router }

func (t picking) RoundTrip(req *http.Request) (*http.Response, error) {
	x := exchangeOf(req)
	p := x.pool
	x.identify(req.Context())
	var room [attempts]*instance
	tried := room[:0]
	var last *refusal
	for len(tried) < attempts {
		chosen, ok := p.pickAt(x.client, x.session, tried, ticks(time.Now()))
		if !ok {
			break
		}
		if len(tried) > 0 {
			p.counts.retries.Add(1)
			tried[len(tried)-1].retried()
		}
		tried = append(tried, chosen.instance)
		x.target, x.record.attempts, x.record.instance = chosen, len(tried), chosen.instance
		response, err := x.attempt(req)
		if err == nil {
			x.noteCall(p)
			return response, nil
		}
		var again bool
		if last, again = x.failed(req, err); !again {
			break
		}
		p = t.router.current(p)
	}
	if last == nil {
		last = noInstance(p)
	}
	return nil, last
}

// attempt sends the request to one instance, and returns its response.
func (x *exchange) attempt(req *http.Request) (*http.Response, error) {
	t := x.target
	path := x.path
	if t.route.StripPath && path != "*" {
		path = stripPrefix(path, t.route.Path)
	}
	u, err := url.ParseRequestURI(path + x.query)
	if err != nil {
		return nil, bad("the path is not valid")
	}
	u.Scheme, u.Host = "http", t.address
	ctx, cancel := context.WithCancelCause(req.Context())
	limit := t.route.Timeout
	if limit <= 0 && !x.pool.key.grpc {
		limit = x.router.config.ResponseTimeout // gRPC calls have their own deadlines
	}
	wait := &countdown{limit: limit}
	wait.start(func() { cancel(errTimeout) })
	x.body.wait.Store(wait)
	unusable := false // reports whether the transport chose a connection that carries no request
	out := req.Clone(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		c, ok := got.Conn.(*instanceConn)
		unusable = ok && got.Reused && !c.settle()
	}}))
	out.URL = u
	if t.route.StripPath {
		out.Header.Set("X-Forwarded-Prefix", strings.TrimRight(t.route.Path, "/"))
	}
	out.Body, out.GetBody = x.bodyOf(req)
	l := &t.plain
	if x.pool.key.grpc {
		l = &t.streams
	}
	transport := l.get(x.pool.key.grpc, &x.router.config)
	if transport == nil {
		cancel(nil)
		return nil, &dialError{errors.New("it has left")}
	}
	t.requests.Add(1)
	t.outstanding.Add(1)
	a, err := transport.RoundTrip(out)
	for err != nil && unusable && ctx.Err() == nil && x.rewind(out) {
		unusable = false // if the transport finds no other connection
		a, err = transport.RoundTrip(out)
	}
	wait.stop()
	if err == nil {
		if err = checkStatus(out, a); err != nil {
			a.Body.Close()
		}
	}
	if err != nil {
		t.outstanding.Add(-1)
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		cancel(nil)
		return nil, err
	}
	a.Request = req
	x.follow(req, a, ctx, cancel)
	return a, nil
}

// rewind restores the body of a request that the transport did not send. It returns
// false if the router does not have the whole body.
func (x *exchange) rewind(out *http.Request) bool {
	if out.GetBody == nil {
		return out.Body == nil || out.Body == http.NoBody
	}
	body, err := out.GetBody()
	out.Body = body
	return err == nil
}

// checkStatus rejects a response that no client may receive.
func checkStatus(req *http.Request, a *http.Response) error {
	switch {
	case a.StatusCode == http.StatusSwitchingProtocols && req.Header.Get("Upgrade") == "":
		return errors.New("it changed to a protocol that the client did not ask for")
	case a.StatusCode > 599:
		return errors.New("its answer is not HTTP: its status is not a number from 100 to 599")
	}
	return nil
}

// follow watches the body of a response, or the connection that it upgraded.
func (x *exchange) follow(req *http.Request, a *http.Response, ctx context.Context, cancel context.CancelCauseFunc) {
	t := x.target
	if backend, ok := a.Body.(io.ReadWriteCloser); ok && a.StatusCode == http.StatusSwitchingProtocols {
		x.tunnel = &countedTunnel{ReadWriteCloser: backend, ended: sync.OnceFunc(func() {
			t.outstanding.Add(-1)
			cancel(nil)
		})}
		a.Body = x.tunnel
		return
	}
	if !isStream([]byte(a.Header.Get("Content-Type"))) {
		x.reading.limit, x.reading.over, x.reading.other = x.router.config.BodyTimeout, func() { cancel(errStalled) }, &x.body.watch
	}
	a.Body = &watchedBody{ReadCloser: a.Body, watch: &x.reading, ended: func(err error) {
		x.ended(req, a, err, context.Cause(ctx))
		x.reading.stop()
		t.outstanding.Add(-1)
		cancel(nil)
	}}
}

// failed returns the refusal after a failed attempt, and reports whether the
// router may try another instance.
func (x *exchange) failed(req *http.Request, err error) (*refusal, bool) {
	t := x.target
	var connecting *dialError
	refused := x.body.refused.Load() // before the context, which net/http cancels after it
	switch {
	case refused != nil, errors.As(err, &refused):
		return refused, false
	case req.Context().Err() != nil:
		return &refusal{status: statusClientGone, why: errClientGone.Error()}, false
	case errors.As(err, &connecting):
		x.pool.unreachable(t.instance, connecting.error)
		return &refusal{status: http.StatusBadGateway, why: fmt.Sprintf("the instance %s at %s took no connection: %s", api.ShortID(t.alloc), t.address, inWords(connecting.error))}, true
	}
	if errors.Is(err, io.EOF) {
		err = errNoResponse
	}
	x.pool.failed(t.instance, "no answer: "+inWords(err))
	status := http.StatusBadGateway
	if errors.Is(err, errTimeout) {
		status = http.StatusGatewayTimeout
	}
	if !t.gone.Load() {
		x.record.dropped++
	}
	replayable := x.memory != nil || req.Body == nil || req.Body == http.NoBody
	again := status == http.StatusBadGateway && replayable && isIdempotent(req.Method) && x.record.dropped < 2
	return &refusal{status: status, why: fmt.Sprintf("the instance %s at %s gave no answer: %s", api.ShortID(t.alloc), t.address, inWords(err))}, again
}

// A countedTunnel is an instance's side of an upgraded connection.
type countedTunnel struct {
	io.ReadWriteCloser
	in, out atomic.Int64 // bytes from the client, and to the client
	ended   func()
}

func (t *countedTunnel) Read(p []byte) (int, error) {
	n, err := t.ReadWriteCloser.Read(p)
	t.out.Add(int64(n))
	return n, err
}

func (t *countedTunnel) Write(p []byte) (int, error) {
	n, err := t.ReadWriteCloser.Write(p)
	t.in.Add(int64(n))
	return n, err
}

// CloseWrite ends the direction to the instance.
func (t *countedTunnel) CloseWrite() error {
	if c, ok := t.ReadWriteCloser.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return t.Close()
}

func (t *countedTunnel) Close() error {
	defer t.ended()
	return t.ReadWriteCloser.Close()
}
