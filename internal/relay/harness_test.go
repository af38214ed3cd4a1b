// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// A pair is a client and the server that it reaches, over connections in memory.
type pair struct {
	t      *testing.T
	client *Client
	stop   context.CancelFunc // of the server

	mu    sync.Mutex
	dials int
	fails error       // of the next dials
	conns []*counting // that were dialed
}

// inBubble calls f with a pair, in a bubble with virtual time.
func inBubble(t *testing.T, handler http.HandlerFunc, f func(*pair)) {
	bubble.Test(t, func(t *testing.T) {
		l := &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
		ctx, stop := context.WithCancel(context.Background())
		p := &pair{t: t, stop: stop}
		p.client = NewClient(func(ctx context.Context, _ string) (net.Conn, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.dials++
			if p.fails != nil {
				return nil, p.fails
			}
			here, there := net.Pipe()
			conn := &counting{Conn: here}
			p.conns = append(p.conns, conn)
			return conn, l.put(ctx, there)
		})
		done := make(chan struct{})
		go func() {
			defer close(done)
			NewServer(handler, nil).Run(ctx, l)
		}()
		defer func() {
			p.client.Close()
			stop()
			<-done
		}()
		f(p)
	})
}

// connect returns when the client has its connection.
func (p *pair) connect() {
	p.t.Helper()
	if _, sent, err := p.send("early"); err != ErrNoLink || sent {
		p.t.Fatalf("before the connection: sent %v, %v; want ErrNoLink", sent, err)
	}
	synctest.Wait()
}

// send sends a write, and returns the body of its answer.
func (p *pair) send(body string) (answer string, sent bool, err error) {
	return p.sendWith(context.Background(), body)
}

func (p *pair) sendWith(ctx context.Context, body string) (answer string, sent bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://leader/v1/jobs?namespace=x%2Fy", nil)
	if err != nil {
		p.t.Error(err)
		return "", false, err
	}
	r.Header.Add("X-Several", "one")
	r.Header.Add("X-Several", "two")
	resp, sent, err := p.client.RoundTrip(r, "leader", []byte(body))
	if err != nil {
		return "", sent, err
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Error(err)
	}
	return string(text), sent, nil
}

// A counting connection counts writes, and can block them.
type counting struct {
	net.Conn
	mu     sync.Mutex
	writes int
	gate   chan struct{} // blocks writes until it is closed; nil: none
}

func (c *counting) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.writes++
	gate := c.gate
	c.mu.Unlock()
	if gate != nil {
		<-gate
	}
	return c.Conn.Write(p)
}

func (c *counting) block() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	gate := make(chan struct{})
	c.gate = gate
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.gate = nil
		close(gate)
	})
}

func (c *counting) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writes
}

// A listener accepts connections of a channel.
type listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) put(ctx context.Context, conn net.Conn) error {
	select {
	case l.conns <- conn:
		return nil
	case <-l.closed:
		return net.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.TCPAddr{} }

// echo answers with the body of the request.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("X-Target", r.Method+" "+r.URL.RequestURI()+" "+r.Host+" "+strings.Join(r.Header.Values("X-Several"), "+"))
	w.WriteHeader(http.StatusAccepted)
	w.Write(body)
}
