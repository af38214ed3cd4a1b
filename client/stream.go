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

// silence is how long a stream may say nothing: servers send a sign of life
// every ten seconds.
const silence = 30 * time.Second

var errSilent = api.Errorf(api.CodeUnavailable, "the stream said nothing for %s: the connection is taken for lost", silence)

// stream yields the JSON values of an endless answer, one a line. The server's
// end of it, a clean one too, ends the loop without an error only when ctx is
// the reason or the body ended between two values.
func stream[T any](ctx context.Context, c *Client, path string, v url.Values, header http.Header) iter.Seq2[*T, error] {
	return streamOf(ctx, c, path, v, header, func(_ *http.Response, body io.Reader) func() (*T, error) {
		dec := json.NewDecoder(body)
		return func() (*T, error) {
			value := new(T)
			return value, dec.Decode(value)
		}
	})
}

// streamOf yields the values of an endless answer, as the function that begin
// returns reads them: nil is a sign of life, io.EOF the end between two values.
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

// watchedReader puts the watchdog off with everything that arrives.
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

// toldValues are the parameters of a stream whose reader was told up to a position
// before.
func toldValues(p api.Position) url.Values {
	v := url.Values{}
	if p.Timeline != "" {
		v.Set("timeline", p.Timeline)
		v.Set("index", strconv.FormatUint(p.Index, 10))
	}
	return v
}
