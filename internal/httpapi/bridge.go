// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/coder/websocket"
)

// bridge serves a session of a browser: it sends the request with its token to this handler, over a
// connection in memory, and passes messages on in both directions.
func (h *Handler) bridge(outside *websocket.Conn, r *http.Request, token string) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	inside, refusal, done := h.dialSelf(ctx, r, token)
	defer done()
	if inside == nil {
		outside.Close(refusal.Code, refusal.Reason)
		return
	}
	defer inside.CloseNow()
	outside.SetReadLimit(maxSessionMessage)
	inside.SetReadLimit(-1) // of this agent, or of a node behind it
	var input sync.WaitGroup
	input.Go(func() {
		// The end of the browser's connection ends the command, and with it the other direction.
		passMessages(ctx, inside, outside)
		inside.CloseNow()
		cancel()
	})
	end := passMessages(ctx, outside, inside)
	patience, stop := context.WithTimeout(ctx, sessionExitPatience)
	outside.Ping(patience) // a slow browser receives the last output and the exit code first
	stop()
	outside.Close(end.Code, end.Reason)
	cancel()
	input.Wait()
}

// passMessages passes messages on until a side ends, and returns how.
func passMessages(ctx context.Context, to, from *websocket.Conn) websocket.CloseError {
	for {
		kind, data, err := from.Read(ctx)
		if err == nil {
			err = to.Write(ctx, kind, data)
		}
		if err == nil {
			continue
		}
		if closed, ok := errors.AsType[websocket.CloseError](err); ok && closed.Code != websocket.StatusNoStatusRcvd {
			return closed
		}
		return websocket.CloseError{Code: websocket.StatusInternalError, Reason: "the session broke before the command ended"}
	}
}

// dialSelf sends a request to this handler. Without a connection, it returns the refusal. The caller
// calls done at the end of the session.
func (h *Handler) dialSelf(ctx context.Context, r *http.Request, token string) (conn *websocket.Conn, refusal websocket.CloseError, done func()) {
	client, server := net.Pipe()
	l := &oneConn{conn: make(chan net.Conn, 1), closed: make(chan struct{})}
	l.conn <- server
	var serving sync.Mutex // held while the request is served
	inner := &http.Server{
		ErrorLog: slog.NewLogLogger(h.Logger.Handler(), slog.LevelDebug),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
			serving.Lock()
			defer serving.Unlock()
			in = in.WithContext(ctx) // names the real connection
			in.TLS, in.RemoteAddr = r.TLS, r.RemoteAddr
			h.ServeHTTP(w, in)
		}),
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		inner.Serve(l)
	}()
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return client, nil }}
	done = func() {
		client.Close()
		inner.Close()
		<-served
		serving.Lock()
		defer serving.Unlock()
		transport.CloseIdleConnections()
	}
	target := *r.URL
	query := target.Query()
	query.Del(handshakeParam)
	target.Scheme, target.Host, target.RawQuery = "http", "agent", query.Encode()
	conn, resp, err := websocket.Dial(ctx, target.String(), &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport}, HTTPHeader: sessionHeader(r, token), Host: r.Host,
	})
	switch {
	case err == nil:
		return conn, refusal, done
	case resp == nil || resp.StatusCode < 300:
		return nil, websocket.CloseError{Code: websocket.StatusInternalError, Reason: "the agent ends the session: try again"}, done
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	return nil, websocket.CloseError{Code: statusOfHTTP + websocket.StatusCode(resp.StatusCode), Reason: closeReason(string(text))}, done
}

// sessionHeader returns the header of a request with the token of its first message. An empty token
// leaves the request's own.
func sessionHeader(r *http.Request, token string) http.Header {
	header := r.Header.Clone()
	for _, name := range []string{"Connection", "Upgrade", "Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Extensions", "Sec-Websocket-Protocol"} {
		header.Del(name)
	}
	if token != "" {
		header.Del("Authorization")
		header.Del("Cookie")
		header.Set("X-Nomad-Token", token)
	}
	return header
}

// oneConn is a listener with one connection.
type oneConn struct {
	conn   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *oneConn) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *oneConn) Addr() net.Addr { return &net.UnixAddr{Name: "session", Net: "unix"} }
