// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package warm sends the requests of a stack's warm block to a new instance. Requests are
// due at times that depend on the block only, and a warm-up ends at a known time regardless
// of the answers: it delays the instance and never decides about it.
package warm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

const (
	// inFlight bounds the requests that wait for an answer, for each block.
	inFlight = 16
	// maxBody bounds the part of an answer that is read.
	maxBody = 1 << 20
	// dialRetry is the time between two attempts to connect to an instance that does not
	// listen yet, and minListen the shortest time until the warm-up gives up.
	dialRetry = 100 * time.Millisecond
	minListen = 10 * time.Second
	// reports bounds how often a warm-up reports its progress, and reportEvery how fast.
	reports     = 10
	reportEvery = 2 * time.Second
	// maxFailure bounds the description of a failure.
	maxFailure = 200
)

// A Target is an instance with the requests that it is to receive.
type Target struct {
	Address  string // host:port
	Requests []Requests
	// Dial connects to the instance; default: over the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Requests are GET requests that are spread evenly over a time.
type Requests struct {
	Path  string
	Count int
	Over  time.Duration
}

// Run sends the requests, and returns the final count. It calls report from time to time,
// and stops early when ctx ends.
func Run(ctx context.Context, t Target, report func(api.WarmProgress)) api.WarmProgress {
	if t.Dial == nil {
		t.Dial = (&net.Dialer{}).DialContext
	}
	transport := &http.Transport{
		DialContext: t.Dial, MaxIdleConnsPerHost: inFlight, MaxResponseHeaderBytes: 64 << 10, DisableCompression: true,
	}
	defer transport.CloseIdleConnections()
	w := &warming{target: t, transport: transport, report: report}
	for _, r := range t.Requests {
		w.progress.Total += r.Count
		w.longest = max(w.longest, r.Over)
	}
	if err := w.awaitListener(ctx); err != nil {
		w.failAll(err)
		return w.done()
	}
	w.reported = time.Now()
	var blocks sync.WaitGroup
	for _, r := range t.Requests {
		blocks.Go(func() { w.send(ctx, r) })
	}
	blocks.Wait()
	return w.done()
}

// A warming is a running warm-up.
type warming struct {
	target    Target
	transport http.RoundTripper
	report    func(api.WarmProgress)
	longest   time.Duration

	mu       sync.Mutex
	progress api.WarmProgress
	reported time.Time
}

// awaitListener waits until the instance accepts connections, so that the start of its
// process fails no requests.
func (w *warming) awaitListener(ctx context.Context) error {
	limit := max(w.longest, minListen)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		conn, err := w.target.Dial(ctx, "tcp", w.target.Address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-time.After(dialRetry):
		case <-ctx.Done():
			return fmt.Errorf("nothing accepts connections at %s within %s", w.target.Address, limit)
		}
	}
}

// send sends the requests of a block: number i is due at i/Count of the time.
func (w *warming) send(ctx context.Context, r Requests) {
	ctx, cancel := context.WithTimeout(ctx, r.Over+api.WarmTimeout)
	defer cancel()
	begin := time.Now()
	slots := make(chan struct{}, inFlight)
	var requests sync.WaitGroup
	defer requests.Wait()
	for i := range r.Count {
		due := begin.Add(time.Duration(float64(r.Over) * float64(i) / float64(r.Count)))
		select {
		case <-time.After(time.Until(due)):
		case <-ctx.Done():
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			w.count(r.Count-i, fmt.Errorf("%d requests to %s were not sent: the instance answers too slowly", r.Count-i, r.Path))
			return
		}
		requests.Go(func() {
			w.count(1, w.request(ctx, r.Path))
			<-slots
		})
	}
}

// request sends one request, and returns why it failed.
func (w *warming) request(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, api.WarmTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.target.Address+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "Reeve Warm-up")
	resp, err := w.transport.RoundTrip(req) // follows no redirects
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("GET %s: no answer within %s", path, api.WarmTimeout)
	case err != nil:
		return fmt.Errorf("GET %s: %w", path, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode >= 400 {
		return fmt.Errorf("GET %s: status %d", path, resp.StatusCode)
	}
	if _, err := io.CopyN(io.Discard, resp.Body, maxBody); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("GET %s: read the answer: %w", path, err)
	}
	return nil
}

// count counts requests that were answered, or failed for a reason.
func (w *warming) count(requests int, err error) {
	w.mu.Lock()
	w.progress.Sent += requests
	if err != nil {
		w.progress.Failed += requests
		w.progress.Failure = api.Printable(err.Error(), maxFailure)
	}
	now, progress := time.Now(), w.progress
	due := now.Sub(w.reported) >= max(w.longest/reports, reportEvery)
	if due {
		w.reported = now
	}
	w.mu.Unlock()
	if due && progress.Sent < progress.Total {
		w.report(progress)
	}
}

func (w *warming) failAll(err error) {
	w.progress.Sent, w.progress.Failed, w.progress.Failure = w.progress.Total, w.progress.Total, api.Printable(err.Error(), maxFailure)
}

func (w *warming) done() api.WarmProgress {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.progress.Done = true
	return w.progress
}
