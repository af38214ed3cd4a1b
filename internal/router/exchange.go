// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/internal/router/http1"
)

// newHTTP2 makes the server for connections that begin with HTTP/2's preface.
func (r *Router) newHTTP2() *http.Server {
	var only http.Protocols
	only.SetUnencryptedHTTP2(true)
	forward := &httputil.ReverseProxy{
		Rewrite: r.rewrite2, Transport: picking{r}, FlushInterval: -1, BufferPool: pieces{},
		ModifyResponse: func(a *http.Response) error {
			exchangeOf(a.Request).answered(a)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, req *http.Request, err error) { exchangeOf(req).refuse(w, err) },
		ErrorLog:     log.New(io.Discard, "", 0),
	}
	return &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { r.serve2(forward, w, req) }),
		Protocols:         &only,
		ReadHeaderTimeout: r.config.HeaderTimeout, IdleTimeout: r.config.IdleTimeout, MaxHeaderBytes: r.config.MaxHeader,
		ErrorLog: slog.NewLogLogger(r.config.Logger.Handler(), slog.LevelDebug),
	}
}

// A link is an instance's transport for requests that came over HTTP/2: to
// gRPC as HTTP/2, to everything else as HTTP/1.1.
type link struct {
	once      sync.Once
	transport *http.Transport
}

func (l *link) get(grpc bool, timeout time.Duration) *http.Transport {
	l.once.Do(func() {
		var speaks http.Protocols
		speaks.SetHTTP1(!grpc)
		speaks.SetUnencryptedHTTP2(grpc)
		l.transport = &http.Transport{
			Protocols: &speaks, DisableCompression: true, MaxIdleConnsPerHost: maxIdle, IdleConnTimeout: longestIdle,
			DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
				nc, err := dial(ctx, address, timeout)
				if err != nil {
					return nil, &dialError{err}
				}
				return nc, nil
			},
			HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second},
		}
	})
	return l.transport
}

// close lets nothing begin any more; what is under way goes on.
func (l *link) close() {
	l.once.Do(func() {})
	if l.transport != nil {
		l.transport.CloseIdleConnections()
	}
}

// A dialError is one before anything was sent.
type dialError struct{ error }

func (e *dialError) Unwrap() error { return e.error }

// An exchange is one request that came over HTTP/2.
type exchange struct {
	router  *Router
	pool    *pool
	record  record
	session string
	path    string
	query   string
	body    countedBody
	reading watch // of the answer
	grpc    bool
	target  target
}

type exchangeKey struct{}

func exchangeOf(req *http.Request) *exchange {
	return req.Context().Value(exchangeKey{}).(*exchange)
}

func isGRPC(contentType string) bool {
	rest, ok := strings.CutPrefix(contentType, "application/grpc")
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
}

func (r *Router) serve2(forward *httputil.ReverseProxy, w http.ResponseWriter, req *http.Request) {
	path, query := "*", []byte(nil)
	if strings.HasPrefix(req.RequestURI, "/") {
		path, query = http1.SplitTarget([]byte(req.RequestURI))
	}
	x := &exchange{router: r, path: path, query: string(query), grpc: isGRPC(req.Header.Get("Content-Type"))}
	host, _, _ := net.SplitHostPort(req.RemoteAddr)
	x.record = record{
		begun: time.Now(), id: req.Header.Get("X-Request-Id"), client: host, method: req.Method, host: req.Host, target: req.RequestURI,
		proto: "HTTP/2", agent: req.UserAgent(), referer: req.Referer(),
	}
	if !isRequestID([]byte(x.record.id)) {
		x.record.id = newRequestID()
	}
	x.record.logged = r.access != nil && r.access.wants()
	defer func() {
		x.record.in = x.body.n.Load()
		r.finish(&x.record)
	}()
	refused := unfit2(req)
	if refused == nil {
		x.pool = r.table.Load().find(http1.HostName([]byte(req.Host)), path, x.grpc)
		if bound := r.config.MaxBody; x.pool == nil {
			r.noRoute.Add(1)
			refused = noRoute([]byte(req.Host), []byte(req.RequestURI))
		} else if bound > 0 && req.ContentLength > bound {
			refused = tooLarge(bound)
		}
	}
	answer := &countedWriter{ResponseWriter: w, n: &x.record.out}
	if x.pool == nil || !x.pool.key.grpc { // whose streams may be silent for as long as they like
		control := http.NewResponseController(w)
		x.body.watch.limit, x.body.watch.over = r.config.BodyTimeout, func() { control.SetReadDeadline(past) }
		answer.watch.limit, answer.watch.over = r.config.BodyTimeout, func() { control.SetWriteDeadline(past) }
	}
	defer x.body.watch.stop() // the controller may not be used when this has returned
	defer answer.watch.stop()
	if refused != nil {
		x.refuse(answer, refused)
		return
	}
	x.record.counts = x.pool.counts
	if x.pool.sticky != "" {
		if cookie, err := req.Cookie(x.pool.sticky); err == nil {
			x.session = cookie.Value
		}
	}
	req = req.WithContext(context.WithValue(req.Context(), exchangeKey{}, x))
	forward.ServeHTTP(answer, req)
}

// unfit2 refuses a request that HTTP/2 can carry, but that HTTP/1.1 cannot carry
// or that HTTP/1.1 servers read differently: instances speak HTTP/1.1.
func unfit2(req *http.Request) *refusal {
	_, _, err := http1.ParseTarget([]byte(req.Method), []byte(req.RequestURI))
	switch {
	case !http1.IsToken([]byte(req.Method)):
		return bad("the method is not a word")
	case !http1.IsHost([]byte(req.Host)):
		return bad("the host is not a name with a port")
	case err != nil:
		return refusalOf(err)
	case !http1.IsTarget([]byte(req.RequestURI)), req.RequestURI[0] != '/' && req.RequestURI != "*":
		return bad("the target is not a path")
	}
	return nil
}

// rewrite2 makes the request that an instance gets, but for where it goes.
func (r *Router) rewrite2(p *httputil.ProxyRequest) {
	x := exchangeOf(p.In)
	p.Out.URL.Scheme, p.Out.URL.Host = "http", "instance" // the transport knows better
	p.Out.Host = p.In.Host
	peer, _ := netip.ParseAddr(x.record.client)
	if r.trusts(peer) {
		for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded"} {
			p.Out.Header[name] = p.In.Header[name]
		}
		before := p.In.Header
		p.SetXForwarded()
		for _, name := range []string{"X-Forwarded-Proto", "X-Forwarded-Host"} {
			if before[name] != nil {
				p.Out.Header[name] = before[name]
			}
		}
	} else {
		p.SetXForwarded()
		for _, name := range []string{"X-Real-Ip", "X-Forwarded-Port", "X-Forwarded-Prefix"} {
			p.Out.Header.Del(name)
		}
	}
	for name := range p.Out.Header {
		if name == "Proxy" || http1.LooksLikeAnother([]byte(name)) {
			delete(p.Out.Header, name)
		}
	}
	node := "for=" + forwardedNode(peer)
	if x.record.host != "" {
		node += ";host=\"" + x.record.host + "\""
	}
	p.Out.Header.Add("Forwarded", node+";proto=http")
	p.Out.Header.Set("X-Request-Id", x.record.id)
}

// picking is a transport that picks an instance.
type picking struct{ router *Router }

func (t picking) RoundTrip(req *http.Request) (*http.Response, error) {
	x := exchangeOf(req)
	r, p := t.router, x.pool
	x.body.ReadCloser, x.body.bound = req.Body, r.config.MaxBody
	hasBody := req.Body != nil && req.Body != http.NoBody
	var room [attempts]*instance
	tried := room[:0]
	var last *refusal
	for len(tried) < attempts {
		chosen, ok := p.pick(x.session, tried, ticks(time.Now()))
		if !ok {
			break
		}
		if len(tried) > 0 {
			p.counts.retries.Add(1)
		}
		tried = append(tried, chosen.instance)
		x.target, x.record.attempts, x.record.instance = chosen, len(tried), chosen.instance
		answer, err := x.attempt(req, hasBody)
		if err == nil {
			return answer, nil
		}
		var again bool
		if last, again = x.failed(req, err, hasBody); !again {
			break
		}
		p = r.current(p)
	}
	if last == nil {
		last = noInstance(p)
	}
	return nil, last
}

// attempt asks one instance.
func (x *exchange) attempt(req *http.Request, hasBody bool) (*http.Response, error) {
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
		limit = x.router.config.ResponseTimeout // gRPC has deadlines of its own
	}
	wait := &countdown{limit: limit}
	wait.start(func() { cancel(errTimeout) })
	x.body.wait.Store(wait)
	out := req.Clone(ctx)
	out.URL = u
	if t.route.StripPath {
		out.Header.Set("X-Forwarded-Prefix", strings.TrimRight(t.route.Path, "/"))
	}
	if hasBody {
		out.Body = io.NopCloser(&x.body) // another attempt may want it
	}
	l := &t.plain
	if x.pool.key.grpc {
		l = &t.streams
	}
	transport := l.get(x.pool.key.grpc, x.router.config.ConnectTimeout)
	if transport == nil {
		cancel(nil)
		return nil, &dialError{errors.New("it has left")}
	}
	t.requests.Add(1)
	t.outstanding.Add(1)
	a, err := transport.RoundTrip(out)
	wait.stop()
	if err == nil && a.StatusCode == http.StatusSwitchingProtocols {
		a.Body.Close()
		err = errors.New("it changed to a protocol that the client did not ask for")
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
	if !isStream([]byte(a.Header.Get("Content-Type"))) {
		x.reading.limit, x.reading.over, x.reading.other = x.router.config.BodyTimeout, func() { cancel(errStalled) }, &x.body.watch
	}
	a.Body = &answerBody{ReadCloser: a.Body, watch: &x.reading, ended: func(err error) {
		x.ended(req, a, err, context.Cause(ctx))
		x.reading.stop()
		t.outstanding.Add(-1)
		cancel(nil)
	}}
	return a, nil
}
