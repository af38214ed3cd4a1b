// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAWriteArrivesAsItWasSent(t *testing.T) {
	inBubble(t, echo, func(p *pair) {
		p.connect()
		for _, body := range []string{"", "one", strings.Repeat("x", MaxBody)} {
			r, _ := http.NewRequest(http.MethodPut, "http://leader/v1/jobs?namespace=x%2Fy", nil)
			r.Header["X-Several"] = []string{"one", "two"}
			resp, sent, err := p.client.RoundTrip(r, "leader", []byte(body))
			if err != nil || !sent {
				t.Fatalf("sent %v, %v", sent, err)
			}
			got, _ := io.ReadAll(resp.Body)
			if want := "PUT /v1/jobs?namespace=x%2Fy leader one+two"; resp.Header.Get("X-Target") != want || resp.StatusCode != http.StatusAccepted || string(got) != body {
				t.Errorf("got %d, %q and %d bytes; want 202, %q and %d bytes", resp.StatusCode, resp.Header.Get("X-Target"), len(got), want, len(body))
			}
		}
		if _, sent, err := p.send(strings.Repeat("x", MaxBody+1)); err != ErrNoLink || sent {
			t.Errorf("a body that is too large: sent %v, %v; want ErrNoLink", sent, err)
		}
	})
}

// TestWritesShareARecord blocks the connection while many writes arrive.
func TestWritesShareARecord(t *testing.T) {
	const writes = 200
	inBubble(t, echo, func(p *pair) {
		p.connect()
		release := p.conns[0].block()
		var clients sync.WaitGroup
		for i := range writes {
			clients.Go(func() {
				body := fmt.Sprint("write ", i)
				if got, _, err := p.send(body); got != body || err != nil {
					t.Errorf("got %q, %v; want %q", got, err, body)
				}
			})
		}
		synctest.Wait()
		release()
		clients.Wait()
		if n := p.conns[0].count(); n > 3 {
			t.Errorf("%d writes took %d records, want at most 3", writes, n)
		}
	})
}

func TestAClientConnectsInTheBackground(t *testing.T) {
	inBubble(t, echo, func(p *pair) {
		attempt := func(what string, after time.Duration, want int) {
			t.Helper()
			time.Sleep(after)
			if _, sent, err := p.send("x"); err != ErrNoLink || sent {
				t.Errorf("%s: sent %v, %v; want ErrNoLink", what, sent, err)
			}
			synctest.Wait()
			if p.dials != want {
				t.Errorf("%s: %d dials, want %d", what, p.dials, want)
			}
		}
		p.fails = errors.New("no route")
		attempt("the first write", 0, 1)
		attempt("a write right after a failure", 0, 1)
		p.fails = fmt.Errorf("dial: %w", ErrUnsupported)
		attempt("a write a little later", retryAfter+1, 2)
		attempt("a write to an earlier version", retryAfter+1, 2)
		p.fails = nil
		attempt("a write after an upgrade", unsupportedAfter, 3)
		if got, _, err := p.send("one"); got != "one" || err != nil {
			t.Errorf("with a connection: %q, %v", got, err)
		}
	})
}

// TestABrokenConnectionTellsWhatWasSent breaks a connection while one write is being written and
// another one waits.
func TestABrokenConnectionTellsWhatWasSent(t *testing.T) {
	inBubble(t, echo, func(p *pair) {
		p.connect()
		release := p.conns[0].block()
		var senders sync.WaitGroup
		results := map[string]bool{}
		var mu sync.Mutex
		for _, name := range []string{"written", "waiting"} {
			senders.Go(func() {
				_, sent, err := p.send(name)
				if err == nil || err == ErrNoLink {
					t.Errorf("%s: got %v, want the error of the connection", name, err)
				}
				mu.Lock()
				defer mu.Unlock()
				results[name] = sent
			})
			synctest.Wait()
		}
		p.conns[0].Conn.Close()
		synctest.Wait()
		release()
		senders.Wait()
		if !results["written"] || results["waiting"] {
			t.Errorf("sent: %v; want written: true, waiting: false", results)
		}
		p.connect() // again
		if got, _, err := p.send("one"); got != "one" || err != nil {
			t.Errorf("with the next connection: %q, %v", got, err)
		}
	})
}

func TestACancelledWriteEndsAtTheServer(t *testing.T) {
	ended := make(chan error, 1)
	inBubble(t, func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		ended <- r.Context().Err()
	}, func(p *pair) {
		ended = make(chan error, 1)
		p.connect()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, sent, err := p.sendWith(ctx, "x"); !sent || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("sent %v, %v; want a deadline", sent, err)
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the handler's context ended with %v", err)
		}
	})
}

func TestAHandlerThatBreaksOff(t *testing.T) {
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		switch body, _ := io.ReadAll(r.Body); string(body) {
		case "abort":
			panic(http.ErrAbortHandler)
		case "panic":
			panic("bug")
		case "large":
			for range maxAnswer >> 20 {
				w.Write(make([]byte, 1<<20))
			}
		}
	}, func(p *pair) {
		p.connect()
		for _, how := range []string{"abort", "panic", "large"} {
			if _, sent, err := p.send(how); !sent || err != errAborted {
				t.Errorf("%s: sent %v, %v; want errAborted", how, sent, err)
			}
		}
		if _, _, err := p.send("other"); err != nil {
			t.Errorf("the next write: %v", err)
		}
	})
}

// TestASlowLeaderKeepsItsConnection and a silent one loses it.
func TestASlowLeaderKeepsItsConnection(t *testing.T) {
	inBubble(t, func(http.ResponseWriter, *http.Request) { time.Sleep(5 * time.Minute) }, func(p *pair) {
		p.connect()
		if _, _, err := p.send("x"); err != nil {
			t.Errorf("a write that takes 5 minutes: %v", err)
		}
		release := p.conns[0].block() // pings do not arrive
		defer release()
		began := time.Now()
		if _, sent, err := p.send("x"); !sent || err == nil {
			t.Errorf("a silent leader: sent %v, %v; want an error", sent, err)
		}
		if took := time.Since(began); took > 4*pingInterval {
			t.Errorf("the client waited %s for a silent leader", took)
		}
	})
}

func TestAnIdleConnectionIsClosed(t *testing.T) {
	inBubble(t, echo, func(p *pair) {
		p.connect()
		time.Sleep(idleTimeout + 2*pingInterval)
		synctest.Wait()
		p.connect()
		if p.dials != 2 {
			t.Errorf("%d dials, want another one after the idle timeout", p.dials)
		}
	})
}

// TestAServerThatEndsLeavesNoWriteInDoubt ends the server while it answers one write.
func TestAServerThatEndsLeavesNoWriteInDoubt(t *testing.T) {
	var begun atomic.Int64
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		begun.Add(1)
		time.Sleep(100 * time.Millisecond)
		w.Write([]byte("done"))
	}, func(p *pair) {
		begun.Store(0)
		p.connect()
		answered := make(chan string)
		go func() {
			got, _, err := p.send("x")
			answered <- fmt.Sprint(got, err)
		}()
		synctest.Wait()
		p.stop()
		synctest.Wait()
		if _, sent, err := p.send("late"); err != ErrNoLink || sent {
			t.Errorf("a write after the goodbye: sent %v, %v; want ErrNoLink", sent, err)
		}
		if got := <-answered; got != "done<nil>" || begun.Load() != 1 {
			t.Errorf("the write in flight: %s; %d writes began", got, begun.Load())
		}
	})
}
