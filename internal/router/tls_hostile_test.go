// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"bytes"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"
)

func TestRouterTLSSlowHandshakesAreBounded(t *testing.T) {
	r := fast.startSecure(t, Config{MaxHandshakes: 4, HeaderTimeout: time.Minute}, "web.test")
	r.add("a1", says(t, "hello"), route(host("web.test")))
	dial := func() net.Conn {
		nc, err := net.Dial("tcp", r.SecureAddr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nc.Close() })
		nc.SetDeadline(time.Now().Add(deadline))
		return nc
	}
	var slow []net.Conn
	for i := range 20 {
		nc := dial()
		nc.Write([]byte{22, 3, 1, 0, 200, 1}[:1+i%6]) // the begin of a client's first message
		slow = append(slow, nc)
	}
	eventually(t, "older handshakes are dropped", func() bool { s := r.Status().TLS; return s.Dropped == 16 && s.Pending == 4 })
	for range 8 { // others are served meanwhile
		if _, err := r.handshake("web.test"); err != nil {
			t.Fatal(err)
		}
	}
	// Which ones are the oldest depends on the order in which the router began with them.
	var closed atomic.Int32
	for _, nc := range slow {
		go func() {
			if _, err := nc.Read(make([]byte, 1)); err != nil && !isTimeout(err) {
				closed.Add(1)
			}
		}()
	}
	eventually(t, "the connections of dropped handshakes are closed", func() bool { return closed.Load() >= 16 })
	before := time.Now()
	r.stop()
	if took := time.Since(before); took > deadline {
		t.Errorf("slow handshakes delayed the stop by %s", took)
	}
}

func TestRouterTLSHandshakesEndInTime(t *testing.T) {
	r := fast.startSecure(t, Config{HeaderTimeout: 50 * time.Millisecond}, "web.test")
	nc, err := net.Dial("tcp", r.SecureAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(deadline))
	if _, err := io.ReadAll(nc); err != nil && isTimeout(err) {
		t.Errorf("a silent client keeps its connection: %v", err)
	}
	eventually(t, "the handshake is counted", func() bool { s := r.Status().TLS; return s.Failed == 1 && s.Pending == 0 })
}

// A client may send its first message in parts, but it cannot make the router collect bytes.
func TestRouterTLSFirstMessageIsBounded(t *testing.T) {
	r := fast.startSecure(t, Config{HeaderTimeout: time.Hour}, "web.test") // only bounds end a handshake
	dial := func() *net.TCPConn {
		nc, err := net.Dial("tcp", r.SecureAddr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nc.Close() })
		nc.SetDeadline(time.Now().Add(deadline))
		return nc.(*net.TCPConn)
	}
	for name, sent := range map[string][]byte{
		// The message claims nearly 64 KiB, and does not end.
		"records of one byte": append([]byte{22, 3, 1, 0, 4, 1, 0, 255, 250}, bytes.Repeat([]byte{22, 3, 1, 0, 1, 0}, 8<<10)...),
		"a huge message":      append([]byte{22, 3, 1, 64, 0, 1, 255, 255, 255}, make([]byte, 64<<10)...),
		"a huge record":       append([]byte{22, 3, 1, 255, 255}, make([]byte, 70<<10)...),
		"empty records":       bytes.Repeat([]byte{22, 3, 1, 0, 0}, 10000),
		"HTTP":                []byte("GET / HTTP/1.1\r\nHost: web.test\r\n\r\n"),
		"a truncated hello":   []byte("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03"),
	} {
		nc := dial()
		nc.Write(sent) // fails if the router closes the connection meanwhile
		if _, err := io.Copy(io.Discard, nc); err != nil && isTimeout(err) {
			t.Errorf("%s: the connection stays open", name)
		}
	}
	eventually(t, "all are counted", func() bool { s := r.Status().TLS; return s.Failed == 6 && s.Pending == 0 })
}
