// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// beforePing is less than the time after which a silent connection between servers counts as dead.
const beforePing = 8 * time.Second

// A hanging is a machine behind a host that hangs on demand: connections stay open, and carry nothing.
type hanging struct {
	*machine
	received atomic.Int64 // bytes since it hangs
	hangs    atomic.Bool
}

// hang adds such a host before a machine.
func hang(t *testing.T, m *machine) *hanging {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &hanging{machine: &machine{addr: l.Addr().String()}}
	var copying sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		copying.Wait()
	})
	copying.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", m.addr)
			if err != nil {
				client.Close()
				return
			}
			t.Cleanup(func() { client.Close(); server.Close() })
			copying.Go(func() { h.copy(server, client, &h.received) })
			copying.Go(func() { h.copy(client, server, new(atomic.Int64)) })
		}
	})
	return h
}

func (h *hanging) copy(to io.Writer, from io.Reader, received *atomic.Int64) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if h.hangs.Load() {
			received.Add(int64(n))
		} else if _, failed := to.Write(buf[:n]); failed != nil {
			return
		}
		if err != nil {
			return
		}
	}
}

// TestRequestsLeaveALeaderThatHangs stops a leader with requests on their way to it. A follower notices this
// by the election of another leader.
func TestRequestsLeaveALeaderThatHangs(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodPut} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			var done journal
			var known atomic.Pointer[machine]
			old := hang(t, f.server("s1", always, nil, done.serve))
			next := f.server("s2", always, nil, done.serve)
			third := f.server("s3", never, at(&known), nil)
			known.Store(old.machine)
			if got := f.ask(third, method, "/service/x", "before"); got.status != http.StatusOK {
				t.Fatalf("the leader that does not hang yet: %d %s", got.status, got.body)
			}
			old.hangs.Store(true)
			go func() {
				wait.Poll(t.Context(), time.Millisecond, func() bool { return old.received.Load() > 0 })
				known.Store(next)
			}()
			began := time.Now()
			got := f.ask(third, method, "/service/x", "one")
			if took := time.Since(began); took > beforePing {
				t.Errorf("the answer took %s", took)
			}
			switch {
			case method == http.MethodGet && got.status != http.StatusOK:
				t.Errorf("a read: %d %s", got.status, got.body)
			case method == http.MethodPut && (got.status != http.StatusServiceUnavailable || got.header.Get(notLeaderHeader) != ""):
				t.Errorf("a write: %d, not leader %q: %s", got.status, got.header.Get(notLeaderHeader), got.body)
			case method == http.MethodPut && (!strings.Contains(got.body, "may have been made") || !strings.Contains(got.body, "another server leads")):
				t.Errorf("a write: %s", got.body)
			case method == http.MethodPut && done.count("one") != 0:
				t.Error("the write was repeated")
			}
		})
	}
}

// TestAWriteWaitsForALeaderThatLostAnElection lets a leader lose an election while it makes a change.
func TestAWriteWaitsForALeaderThatLostAnElection(t *testing.T) {
	f := newFleet(t)
	var done journal
	var known atomic.Pointer[machine]
	var asked atomic.Int64 // requests to the old leader
	next := f.server("s2", always, nil, done.serve)
	old := f.server("s1", func() bool { asked.Add(1); return true }, at(&known), func(w http.ResponseWriter, r *http.Request) {
		before := asked.Load()
		known.Store(next)
		wait.Poll(r.Context(), time.Millisecond, func() bool { return asked.Load() >= before+2 })
		done.serve(w, r)
	})
	known.Store(old)
	third := f.server("s3", never, at(&known), nil)
	if got := f.ask(third, http.MethodPut, "/service/x", "one"); got.status != http.StatusOK || done.count("one") != 1 {
		t.Errorf("got %d %s, done %d times", got.status, got.body, done.count("one"))
	}
}
