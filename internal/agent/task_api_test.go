// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// overSocket returns a client of a unix socket.
func overSocket(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
}

// TestATaskUsesABoundedNumberOfConnections opens many more than a task may have, while another task is
// served, and ends the socket.
func TestATaskUsesABoundedNumberOfConnections(t *testing.T) {
	var open, most atomic.Int64
	a := &Agent{tasks: &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.RemoteAddr) }),
		ConnState: func(_ net.Conn, s http.ConnState) {
			switch s {
			case http.StateNew:
				now := open.Add(1)
				for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
				}
			case http.StateClosed:
				open.Add(-1)
			}
		},
	}}
	dir := t.TempDir()
	listen := func(task string) (string, func()) {
		path := filepath.Join(dir, task)
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		return path, a.serveTask("5f3e", task, l)
	}
	hostile, stop := listen("hostile")
	var conns []net.Conn
	for range 10 * taskConnections {
		c, err := net.Dial("unix", hostile)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	isServed := func(i int) {
		t.Helper()
		if n, err := conns[i].Read(make([]byte, 1<<10)); err != nil || n == 0 {
			t.Fatalf("connection %d: %d bytes, %v", i, n, err)
		}
	}
	for i := range taskConnections {
		isServed(i)
	}
	if err := conns[0].Close(); err != nil {
		t.Fatal(err)
	}
	isServed(taskConnections) // it waited for the place of another
	other, stopOther := listen("other")
	resp, err := overSocket(other).Get("http://localhost/")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil || string(text) != "task 5f3e/other" {
		t.Errorf("the handler sees the address %q, %v", text, err)
	}
	stop()
	for i, c := range conns[taskConnections:] {
		if n, err := c.Read(make([]byte, 1<<10)); err == nil {
			t.Errorf("connection %d read %d bytes after the end of the task", i, n)
		}
	}
	stopOther()
	if got := most.Load(); got > taskConnections+1 {
		t.Errorf("%d connections at once, want %d of one task and one of another", got, taskConnections)
	}
	if err := a.tasks.Close(); err != nil {
		t.Error(err)
	}
}
