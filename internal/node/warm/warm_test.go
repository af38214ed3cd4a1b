// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package warm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// An instance answers requests over pipes, so that it can run in virtual time.
type instance struct {
	handler http.HandlerFunc
	opens   time.Time // it refuses connections before
	conns   chan net.Conn

	mu       sync.Mutex
	received []time.Time
}

// inBubble runs a test with an instance in virtual time.
func inBubble(t *testing.T, handler http.HandlerFunc, do func(t *testing.T, i *instance)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		i := &instance{handler: handler, conns: make(chan net.Conn)}
		server := &http.Server{Handler: i}
		go server.Serve(i)
		do(t, i)
		server.Close()
		synctest.Wait()
	})
}

func (i *instance) Accept() (net.Conn, error) {
	conn, ok := <-i.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (i *instance) Close() error   { close(i.conns); return nil }
func (i *instance) Addr() net.Addr { return &net.TCPAddr{} }

func (i *instance) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if time.Now().Before(i.opens) {
		return nil, errors.New("connection refused")
	}
	ours, theirs := net.Pipe()
	select {
	case i.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (i *instance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.received = append(i.received, time.Now())
	i.mu.Unlock()
	if i.handler != nil {
		i.handler(w, r)
	}
}

func (i *instance) warm(t *testing.T, count int, over time.Duration, report func(api.WarmProgress)) api.WarmProgress {
	if report == nil {
		report = func(api.WarmProgress) {}
	}
	return Run(t.Context(), Target{Address: "instance:80", Dial: i.dial, Requests: []Requests{{Path: "/warm?a=1", Count: count, Over: over}}}, report)
}

func TestRequestsAreSpreadEvenly(t *testing.T) {
	inBubble(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Method != "GET" || r.RequestURI != "/warm?a=1" || r.UserAgent() != "Reeve Warm-up" {
			t.Errorf("the instance received %s %s from %q", r.Method, r.RequestURI, r.UserAgent())
		}
	}, func(t *testing.T, i *instance) {
		begin := time.Now()
		var reported []api.WarmProgress
		got := i.warm(t, 60, 30*time.Second, func(p api.WarmProgress) { reported = append(reported, p) })
		if diff := cmp.Diff(api.WarmProgress{Total: 60, Sent: 60, Done: true}, got); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		if len(i.received) != 60 {
			t.Fatalf("the instance received %d requests, want 60", len(i.received))
		}
		for n, at := range i.received {
			if want := time.Duration(n) * 500 * time.Millisecond; at.Sub(begin) != want {
				t.Errorf("request %d arrived after %s, want %s", n, at.Sub(begin), want)
			}
		}
		if len(reported) < 5 || len(reported) > 10 {
			t.Errorf("%d reports of the progress, want a few: %v", len(reported), reported)
		}
	})
}

func TestFailuresAreCountedAndDecideNothing(t *testing.T) {
	n := 0
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		switch n++; n % 4 {
		case 0:
			http.Redirect(w, r, "http://169.254.169.254/secrets", http.StatusFound) // not followed
		case 1:
			http.Error(w, "<b>hostile</b>", http.StatusServiceUnavailable)
		}
	}, func(t *testing.T, i *instance) {
		want := api.WarmProgress{Total: 8, Sent: 8, Failed: 2, Failure: "GET /warm?a=1: status 503", Done: true}
		if diff := cmp.Diff(want, i.warm(t, 8, 8*time.Second, nil)); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		if len(i.received) != 8 {
			t.Errorf("the instance received %d requests, want 8", len(i.received))
		}
	})
}

func TestWarmUpWaitsForTheListener(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, i *instance) {
		i.opens = time.Now().Add(7 * time.Second)
		begin := time.Now()
		if got := i.warm(t, 4, 4*time.Second, nil); got.Failed > 0 || got.Sent != 4 {
			t.Errorf("%+v, want no failures while the process starts", got)
		}
		if took := time.Since(begin); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("the warm-up took %s, want 7 s for the start and 3 s until the last request", took)
		}
	})
}

func TestWarmUpEndsWhateverTheInstanceDoes(t *testing.T) {
	const over = 20 * time.Second
	for name, k := range map[string]struct {
		handler http.HandlerFunc
		never   bool // it never listens
		limit   time.Duration
		failure string
	}{
		"never listens": {nil, true, over, "nothing accepts connections at instance:80 within 20s"},
		"never answers": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, false, over + api.WarmTimeout, "GET /warm?a=1: no answer within 5s"},
		"answers without end": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 32<<10)); err != nil {
					return
				}
			}
		}, false, over, ""},
		"sends a header without end": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 1<<20))
		}, false, over, "server response headers exceeded"},
		"speaks no HTTP": {func(w http.ResponseWriter, r *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			fmt.Fprintf(conn, "\x1b[31m%s\r\n\r\n", strings.Repeat("\x00", 5000))
			io.Copy(io.Discard, conn)
			conn.Close()
		}, false, over + api.WarmTimeout, "GET /warm"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, k.handler, func(t *testing.T, i *instance) {
				if k.never {
					i.opens = time.Now().Add(time.Hour)
				}
				begin := time.Now()
				got := i.warm(t, 200, over, nil)
				if took := time.Since(begin); took > k.limit {
					t.Errorf("the warm-up took %s, want at most %s", took, k.limit)
				}
				if got.Sent != 200 || !got.Done || (got.Failed == 0) != (k.failure == "") || !strings.Contains(got.Failure, k.failure) {
					t.Errorf("%+v, want that all requests are counted, with failure %q", got, k.failure)
				}
				if len(got.Failure) > 2*maxFailure || strings.ContainsAny(got.Failure, "\x00\x1b") {
					t.Errorf("the failure is %q", got.Failure)
				}
			})
		})
	}
}

func TestWarmUpStopsWithItsContext(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, i *instance) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		begin := time.Now()
		Run(ctx, Target{Address: "instance:80", Dial: i.dial, Requests: []Requests{{Path: "/", Count: 100, Over: time.Hour}, {Path: "/b", Count: 1, Over: time.Hour}}}, func(api.WarmProgress) {})
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("the warm-up took %s, want 3 s", took)
		}
	})
}
