// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"
)

// newServer returns the server of the connections that net/http serves: those of
// HTTP/2, and with EngineStandard all others too.
func (r *Router) newServer() *http.Server {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	protocols.SetHTTP1(r.config.Engine == EngineStandard)
	forward := &httputil.ReverseProxy{
		Rewrite: r.rewrite, Transport: picking{r}, FlushInterval: -1, BufferPool: buffers{},
		ModifyResponse: func(a *http.Response) error {
			exchangeOf(a.Request).responded(a)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, req *http.Request, err error) { exchangeOf(req).refuse(w, err) },
		ErrorLog:     log.New(io.Discard, "", 0),
	}
	return &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { r.serveExchange(forward, w, req) }),
		Protocols:         &protocols,
		ReadHeaderTimeout: r.config.HeaderTimeout, IdleTimeout: r.config.IdleTimeout, MaxHeaderBytes: r.config.MaxHeader,
		ConnContext:                  connContext,
		DisableGeneralOptionsHandler: true, // an instance responds to OPTIONS *
		ErrorLog:                     slog.NewLogLogger(r.config.Logger.Handler(), slog.LevelDebug),
	}
}

// connKey is the key of a *handedConn in the contexts of its requests.
type connKey struct{}

func connContext(ctx context.Context, nc net.Conn) context.Context {
	if over, ok := nc.(*tls.Conn); ok {
		nc = over.NetConn().(*helloConn).handedConn
	}
	return context.WithValue(ctx, connKey{}, nc)
}

// serveStandard passes a client's connection to the server of net/http, and
// returns when it is closed.
func (r *Router) serveStandard(nc *net.TCPConn) {
	c := newHandedConn(nc, nil)
	c.silent.Store(true)
	if !r.conns.add(c) {
		nc.Close()
		return
	}
	defer r.conns.remove(c)
	r.handOver(r.handed, c, c)
}

// A link holds the transport of an instance for the requests that net/http
// forwards: HTTP/2 for gRPC, HTTP/1.1 for all others.
type link struct {
	once      sync.Once
	transport *http.Transport
}

// expectTimeout limits how long the transport holds a body back for 100 Continue.
const expectTimeout = 5 * time.Second

// get returns the transport, or nil if the instance has left.
func (l *link) get(grpc bool, config *Config) *http.Transport {
	l.once.Do(func() {
		var protocols http.Protocols
		protocols.SetHTTP1(!grpc)
		protocols.SetUnencryptedHTTP2(grpc)
		timeout := config.ConnectTimeout
		l.transport = &http.Transport{
			Protocols: &protocols, DisableCompression: true, MaxIdleConnsPerHost: maxIdle, IdleConnTimeout: longestIdle,
			MaxResponseHeaderBytes: int64(config.MaxHeader), ExpectContinueTimeout: expectTimeout,
			DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
				nc, err := dial(ctx, address, timeout)
				if err != nil {
					return nil, &dialError{err}
				}
				if grpc {
					return nc, nil
				}
				return newInstanceConn(nc)
			},
			HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second},
		}
	})
	return l.transport
}

// close prevents new requests. Requests in flight continue.
func (l *link) close() {
	l.once.Do(func() {})
	if l.transport != nil {
		l.transport.CloseIdleConnections()
	}
}

// A dialError is an error before the router sent anything.
type dialError struct{ error }

func (e *dialError) Unwrap() error { return e.error }
