// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
)

// silence is the longest time without a message on a stream: servers send a heartbeat every
// ten seconds.
const silence = 30 * time.Second

var errSilent = api.Errorf(api.CodeUnavailable, "the stream said nothing for %s: the connection is taken for lost", silence)

// stream yields the JSON values of an endless response, one per line. If the server ends it,
// even cleanly, the loop ends without an error only if ctx is the reason or the body ended
// between two values.
func stream[T any](ctx context.Context, c *Client, path string, v url.Values, header http.Header) iter.Seq2[*T, error] {
	return streamOf(ctx, c, path, v, header, func(_ *http.Response, body io.Reader) func() (*T, error) {
		dec := json.NewDecoder(body)
		return func() (*T, error) {
			value := new(T)
			return value, dec.Decode(value)
		}
	})
}

// streamOf yields the values of an endless response, as read by the function that begin
// returns: nil is a heartbeat, io.EOF the end between two values.
func streamOf[T any](ctx context.Context, c *Client, path string, v url.Values, header http.Header,
	begin func(*http.Response, io.Reader) func() (*T, error)) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		inner, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		c.addDefaults(v)
		resp, err := c.do(inner, http.MethodGet, path, v, nil, header)
		if err != nil {
			yield(nil, err)
			return
		}
		defer resp.Body.Close()
		watchdog := time.AfterFunc(silence, func() { cancel(errSilent) })
		defer watchdog.Stop()
		next := begin(resp, &watchedReader{r: resp.Body, watchdog: watchdog})
		for {
			value, err := next()
			switch {
			case err == nil:
				if value != nil && !yield(value, nil) {
					return
				}
				continue
			case ctx.Err() != nil:
				err = ctx.Err()
			case errors.Is(context.Cause(inner), errSilent):
				err = errSilent
			case errors.Is(err, io.EOF):
				return
			default:
				err = c.noAnswer(err, "the stream from %s broke: %v", c.base.Host, err)
			}
			yield(nil, err)
			return
		}
	}
}

// A watchedReader resets the watchdog with each read.
type watchedReader struct {
	r        io.Reader
	watchdog *time.Timer
}

func (w *watchedReader) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if n > 0 {
		w.watchdog.Reset(silence)
	}
	return n, err
}

// positionValues returns the parameters of a stream whose reader has received all changes up to a
// position.
func positionValues(p api.Position) url.Values {
	v := url.Values{}
	if p.Timeline != "" {
		v.Set("timeline", p.Timeline)
		v.Set("index", strconv.FormatUint(p.Index, 10))
	}
	return v
}
