// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// fragile is a server that is away at times, in a bubble without a network.
type fragile struct {
	mu       sync.Mutex
	answer   func(asked int) (status int, body string, err error)
	requests []string // their queries
}

func (f *fragile) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, r.Method+" "+r.URL.RawQuery)
	status, body, err := f.answer(len(f.requests))
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: status, Body: io.NopCloser(io.MultiReader(strings.NewReader(body), &broken{body})), Request: r,
		Header: http.Header{"X-Nomad-Index": {"3"}},
	}, nil
}

// broken ends a body that is not complete as a connection does that is closed.
type broken struct{ body string }

func (b *broken) Read([]byte) (int, error) {
	if strings.HasSuffix(b.body, "]") {
		return 0, io.EOF
	}
	return 0, io.ErrUnexpectedEOF
}

// patientClient records when the server was lost and back.
func patientClient(t *testing.T, f *fragile, patience time.Duration) (c *client.Client, told *[]string) {
	t.Helper()
	plain, err := client.New(client.Config{Address: "http://x:1", HTTPClient: &http.Client{Transport: f}})
	if err != nil {
		t.Fatal(err)
	}
	told = new([]string)
	start := time.Now()
	say := func(what string) { *told = append(*told, time.Since(start).String()+" "+what) }
	return plain.WithPatience(client.Patience{
		For: patience,
		OnLost: func(err error) {
			var no *client.NoAnswer
			if errors.As(err, &no) {
				err = errors.New(no.Address + " " + no.Cause)
			}
			say("lost: " + err.Error())
		},
		OnBack: func() { say("back") },
	}), told
}

func TestReadsOutlastAnOutage(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		err    error
		cause  string
	}{
		"refused":      {err: syscall.ECONNREFUSED, cause: "http://x:1 connection refused"},
		"reset":        {err: syscall.ECONNRESET, cause: "http://x:1 connection reset by peer"},
		"no leader":    {status: 503, body: "no leader]", cause: "no leader]"},
		"cut off":      {status: 200, body: `[{"ID": "web"`, cause: "http://x:1 connection closed"},
		"bad gateway ": {status: 502, body: "down]", cause: "down]"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				f := &fragile{answer: func(asked int) (int, string, error) {
					if asked < 4 {
						return c.status, c.body, c.err
					}
					return 200, `[{"ID": "web"}]`, nil
				}}
				cl, told := patientClient(t, f, time.Minute)
				jobs, meta, err := cl.Jobs().List(t.Context(), &client.QueryOptions{Index: 41, Wait: time.Minute, Prefix: "w"})
				if err != nil || len(jobs) != 1 || meta.Index != 3 {
					t.Fatalf("got %v, %+v, %v", jobs, meta, err)
				}
				// 100 + 200 + 400 ms between attempts, said once each.
				if want := []string{"0s lost: " + c.cause, "700ms back"}; !slices.Equal(*told, want) {
					t.Errorf("told %q, want %q", *told, want)
				}
				// What the server says now is wanted, whatever it counts from.
				want := []string{"GET index=41&prefix=w&wait=60000ms", "GET prefix=w", "GET prefix=w", "GET prefix=w"}
				if !slices.Equal(f.requests, want) {
					t.Errorf("asked %q, want %q", f.requests, want)
				}
				if cl.IsLost() {
					t.Error("it is still lost")
				}
			})
		})
	}
}

func TestPatienceEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := &fragile{answer: func(int) (int, string, error) { return 0, "", syscall.ECONNREFUSED }}
		cl, told := patientClient(t, f, 10*time.Second)
		start := time.Now()
		_, _, err := cl.Jobs().List(t.Context(), nil)
		if api.CodeOf(err) != api.CodeUnavailable || !strings.Contains(err.Error(), "the server at http://x:1 did not come back within 10s: connection refused") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("it ended after %v", took)
		}
		if len(*told) != 1 {
			t.Errorf("told %q, want only that it is lost", *told)
		}
	})
}

func TestAnInterruptionEndsTheWaitAtOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := &fragile{answer: func(int) (int, string, error) { return 0, "", syscall.ECONNREFUSED }}
		cl, _ := patientClient(t, f, time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		_, _, err := cl.Jobs().List(ctx, nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 5*time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
}

func TestARefusalEndsAnOutage(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := &fragile{answer: func(asked int) (int, string, error) {
			if asked < 2 {
				return 0, "", syscall.ECONNREFUSED
			}
			return 404, "no such job]", nil
		}}
		cl, told := patientClient(t, f, time.Minute)
		if _, _, err := cl.Jobs().Get(t.Context(), "web", nil); api.CodeOf(err) != api.CodeNotFound {
			t.Errorf("got %v, want not found", err)
		}
		if len(*told) != 2 {
			t.Errorf("told %q, want that it is lost and back", *told)
		}
	})
}

func TestSeveralReadsShareAnOutage(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		back := time.Now().Add(5 * time.Second)
		f := &fragile{answer: func(int) (int, string, error) {
			if time.Now().Before(back) {
				return 0, "", syscall.ECONNREFUSED
			}
			return 200, "[]", nil
		}}
		cl, told := patientClient(t, f, time.Minute)
		var reads sync.WaitGroup
		for range 5 {
			reads.Go(func() {
				if _, _, err := cl.WithNamespace("other").Jobs().List(t.Context(), nil); err != nil {
					t.Error(err)
				}
			})
		}
		reads.Wait()
		if len(*told) != 2 {
			t.Errorf("told %q, want that it is lost and back, once", *told)
		}
	})
}

func TestWritesAndImpatientReadsFailAtOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := &fragile{answer: func(int) (int, string, error) { return 0, "", syscall.ECONNREFUSED }}
		cl, told := patientClient(t, f, time.Minute)
		start := time.Now()
		if _, err := cl.Jobs().Deregister(t.Context(), "web", client.DeregisterOptions{}); api.CodeOf(err) != api.CodeUnavailable {
			t.Errorf("a write: got %v", err)
		}
		if _, _, err := cl.WithPatience(client.Patience{}).Jobs().List(t.Context(), nil); api.CodeOf(err) != api.CodeUnavailable {
			t.Errorf("an impatient read: got %v", err)
		}
		if time.Since(start) != 0 || len(*told) != 0 || len(f.requests) != 2 {
			t.Errorf("took %v, told %q, asked %q", time.Since(start), *told, f.requests)
		}
	})
}
