// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"errors"
	"net"
	"net/http"
	"sync"

	"github.com/reeve-run/reeve/internal/door"
)

// taskConnections bounds the concurrent connections of one task. More wait in the queue of the
// kernel, whose length is bounded too, and take no memory and no file of the agent.
const taskConnections = 32

// serveTask serves the API on the socket of a task until stop is called, which ends its
// connections.
func (a *Agent) serveTask(alloc, task string, l net.Listener) (stop func()) {
	limited := &taskListener{
		Listener: l, peer: door.TaskAddr("task " + alloc + "/" + task), slots: make(chan struct{}, taskConnections),
		ended: make(chan struct{}), conns: map[*taskConn]bool{},
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := a.tasks.Serve(limited); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			a.log.Warn("the socket of a task ended", "allocation", alloc, "task", task, "error", err)
		}
	}()
	return func() {
		limited.Close()
		<-done
		limited.closeAll()
	}
}

// A taskListener accepts a bounded number of connections of one task.
type taskListener struct {
	net.Listener
	peer  door.TaskAddr
	slots chan struct{} // one for each connection
	ended chan struct{}
	once  sync.Once

	mu    sync.Mutex
	conns map[*taskConn]bool
}

// Accept implements net.Listener. It waits while the task has all of its connections.
func (l *taskListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.ended:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	tc := &taskConn{Conn: c, l: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[tc] = true
	return tc, nil
}

// Close implements net.Listener.
func (l *taskListener) Close() error {
	err := net.ErrClosed
	l.once.Do(func() {
		close(l.ended)
		err = l.Listener.Close()
	})
	return err
}

// closeAll closes the connections. Accept must have ended.
func (l *taskListener) closeAll() {
	l.mu.Lock()
	conns := make([]*taskConn, 0, len(l.conns))
	for c := range l.conns {
		conns = append(conns, c)
	}
	l.mu.Unlock()
	for _, c := range conns {
		c.Close()
	}
}

// A taskConn is one connection of a task.
type taskConn struct {
	net.Conn
	l    *taskListener
	once sync.Once
}

// RemoteAddr names the task in logs and records of requests.
func (c *taskConn) RemoteAddr() net.Addr { return c.l.peer }

// Close implements net.Conn.
func (c *taskConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		c.l.mu.Lock()
		delete(c.l.conns, c)
		c.l.mu.Unlock()
		<-c.l.slots
	})
	return err
}
