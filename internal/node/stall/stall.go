// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package stall ends HTTP requests whose server sends nothing for a while. Time in which the reader of
// a response does not read does not count.
package stall

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Transport sends requests with Inner.
type Transport struct {
	Inner http.RoundTripper
	Limit time.Duration // longest time without a byte
	Err   error         // of requests and bodies that exceed it
}

// RoundTrip sends a request.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(t.Limit, func() { cancel(t.Err) })
	resp, err := t.Inner.RoundTrip(req.WithContext(ctx))
	timer.Stop()
	if err != nil {
		if context.Cause(ctx) == t.Err {
			err = t.Err
		}
		cancel(nil)
		return nil, err
	}
	resp.Body = &body{resp.Body, t, ctx, cancel, timer}
	return resp, nil
}

type body struct {
	io.ReadCloser
	of     *Transport
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

func (b *body) Read(p []byte) (int, error) {
	b.timer.Reset(b.of.Limit)
	n, err := b.ReadCloser.Read(p)
	b.timer.Stop()
	if err != nil && err != io.EOF && context.Cause(b.ctx) == b.of.Err {
		err = b.of.Err
	}
	return n, err
}

func (b *body) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}
