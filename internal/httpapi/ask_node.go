// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"github.com/reeve-run/reeve/api"
)

// callerHeaders are the headers of the caller that a request which this agent makes for it has.
var callerHeaders = []string{"X-Nomad-Token", "Authorization", forwardedHeader}

// askNode sends a request that this agent makes for its caller to a node: to this process, if it runs it.
func (c *call) askNode(node *api.Node, r *http.Request) (*http.Response, error) {
	for _, name := range callerHeaders {
		if values := c.r.Header.Values(name); len(values) > 0 {
			r.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	if c.Node != nil && node.ID == c.NodeID() {
		return askHandler(c.Node, r, c.Logger)
	}
	c.prepare(r, toNode)
	return c.toNodes.RoundTrip(r.WithContext(context.WithValue(r.Context(), targetKey{}, nodeTarget{node.ID, node.HTTPAddr})))
}

// askHandler lets a handler of this process answer a request. It returns at the handler's first sign.
func askHandler(h http.Handler, r *http.Request, logger *slog.Logger) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	body, w := io.Pipe()
	answer := &pipedAnswer{body: w, header: http.Header{}, begun: make(chan int, 1)}
	go func() {
		defer func() {
			if p := recover(); p != nil {
				if p != http.ErrAbortHandler {
					logger.Error("a request to the node of this process failed", "path", r.URL.Path, "error", p)
				}
				w.CloseWithError(io.ErrUnexpectedEOF) // the answer is not whole
			}
			answer.WriteHeader(http.StatusOK)
			w.Close()
		}()
		h.ServeHTTP(answer, r.WithContext(ctx))
	}()
	select {
	case status := <-answer.begun:
		return &http.Response{StatusCode: status, Header: answer.header, Body: &cancelled{body, cancel}}, nil
	case <-ctx.Done():
		body.Close()
		cancel()
		return nil, ctx.Err()
	}
}

// A pipedAnswer passes an answer on as it is written.
type pipedAnswer struct {
	body   *io.PipeWriter
	header http.Header
	once   sync.Once
	begun  chan int // receives the status
}

func (a *pipedAnswer) Header() http.Header { return a.header }

func (a *pipedAnswer) WriteHeader(status int) { a.once.Do(func() { a.begun <- status }) }

func (a *pipedAnswer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// Flush implements http.Flusher.
func (a *pipedAnswer) Flush() { a.WriteHeader(http.StatusOK) }

// cancelled is a body that ends its handler when it is closed.
type cancelled struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (b *cancelled) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}
