// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

const (
	// gateTimeout bounds one request to a gate.
	gateTimeout = 5 * time.Second
	// askAhead is how long before the end of an interval its gates are asked.
	askAhead = 5 * time.Second
	// maxGates bounds the requests to gates under way.
	maxGates = 32
	// maxAnswer bounds the bytes of a gate's answer that are read.
	maxAnswer = 16 << 10
	// maxReason bounds the text about a request that failed.
	maxReason = 200
)

// A gate is an address that a check asks.
type gate struct {
	asked  time.Time
	asking bool
	fresh  bool // reports whether the result was not taken yet
	result lifecycle.CheckResult
}

// take returns the result of the last request, and reports whether it counts in this interval: each
// answer counts once, and an unknown one until the next.
func (g *gate) take() (lifecycle.CheckResult, bool) {
	due := g.fresh || g.result.Outcome == lifecycle.Inconclusive
	g.fresh = false
	return g.result, due
}

// askGates asks the gates whose time has come, and reports whether all answers are there. The
// caller holds the lock.
func (t *Traffic) askGates(w *watch, s *api.Shift, now time.Time) bool {
	interval := cmp.Or(s.Spec.Interval, api.DefaultShiftInterval)
	complete := true
	for _, c := range s.Spec.Checks {
		if c.HTTP == "" {
			continue
		}
		g := w.gates[c.Name]
		if g == nil {
			g = &gate{}
			w.gates[c.Name] = g
		}
		if !g.asking && !g.fresh && now.Sub(g.asked) >= cmp.Or(c.Interval, interval)-askAhead {
			g.asked, g.asking = now, true
			t.requests.Go(func() { t.ask(g, c, s) })
		}
		complete = complete && !g.asking
	}
	return complete
}

// ask asks a gate, and notes the answer.
func (t *Traffic) ask(g *gate, c *api.ShiftCheck, s *api.Shift) {
	result := lifecycle.CheckResult{Text: "check " + c.Name + " was not asked: too many requests are under way"}
	select {
	case t.room <- struct{}{}:
		result = t.request(c, s)
		<-t.room
	case <-time.After(gateTimeout):
	case <-t.ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	g.asking, g.fresh, g.result = false, true, result
}

// request asks a gate whether a shift may continue: 200 passes, 4xx fails, and every other answer
// is inconclusive.
func (t *Traffic) request(c *api.ShiftCheck, s *api.Shift) (r lifecycle.CheckResult) {
	ctx, cancel := context.WithTimeout(t.ctx, gateTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.HTTP, nil)
	if err != nil { // validation has refused it
		r.Text = fmt.Sprintf("check %s has no valid address", c.Name)
		return r
	}
	for name, value := range map[string]string{
		"User-Agent": "reeve", "Reeve-Shift": s.ID, "Reeve-Namespace": s.Namespace, "Reeve-Unit": s.Unit,
		"Reeve-From": s.From, "Reeve-To": s.To, "Reeve-Share": strconv.FormatFloat(s.Share, 'f', -1, 64),
	} {
		req.Header.Set(name, value)
	}
	resp, err := t.client.Do(req)
	if err != nil {
		r.Text = fmt.Sprintf("check %s: %s gave no answer: %s", c.Name, req.URL.Hostname(), describe(err))
		return r
	}
	defer resp.Body.Close()
	io.CopyN(io.Discard, resp.Body, maxAnswer)
	r.Text = fmt.Sprintf("check %s: %s answered %d %s", c.Name, req.URL.Hostname(), resp.StatusCode, http.StatusText(resp.StatusCode))
	switch {
	case resp.StatusCode == http.StatusOK:
		r.Outcome = lifecycle.Passed
	case resp.StatusCode >= 400 && resp.StatusCode < 500:
		r.Outcome = lifecycle.Failed
	}
	return r
}

// describe returns why a request failed, without its address, which may contain a secret.
func describe(err error) string {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return "timed out"
	}
	return api.Printable(err.Error(), maxReason)
}

// newTransport returns the transport of requests to gates.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: gateTimeout}).DialContext,
		TLSHandshakeTimeout: gateTimeout, ForceAttemptHTTP2: true, MaxIdleConns: maxGates, MaxResponseHeaderBytes: maxAnswer,
		IdleConnTimeout: 30 * time.Second,
	}
}

// newClient returns a client that follows no redirects: the answer of another address is not the
// gate's.
func newClient(t http.RoundTripper) *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
