// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/reeve-run/reeve/api"
)

// get decodes an answer into a new T, with the client's patience.
func get[T any](ctx context.Context, c *Client, path string, q *QueryOptions) (out T, meta *QueryMeta, err error) {
	v := q.values(c)
	out, meta, err = getOnce[T](ctx, c, path, v)
	err = c.Outlast(ctx, err, func(ctx context.Context) error {
		v.Del("index")
		v.Del("wait")
		var err error
		out, meta, err = getOnce[T](ctx, c, path, v)
		return err
	})
	return out, meta, err
}

func getOnce[T any](ctx context.Context, c *Client, path string, v url.Values) (T, *QueryMeta, error) {
	var out T
	resp, err := c.do(ctx, http.MethodGet, path, v, nil, nil)
	if err != nil {
		return out, nil, err
	}
	defer resp.Body.Close()
	if err := c.decode(ctx, resp, &out); err != nil {
		return out, nil, err
	}
	return out, metaOf(resp.Header), nil
}

// send sends in (nil: no body) and decodes the answer into a new T.
func send[T any](ctx context.Context, c *Client, method, path string, v url.Values, in any) (T, error) {
	var out T
	if v == nil {
		v = url.Values{}
	}
	c.addDefaults(v)
	resp, err := c.do(ctx, method, path, v, in, nil)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	return out, c.decode(ctx, resp, &out)
}

// do sends one request and returns a successful response. It encodes in as JSON, unless it is
// bytes or a reader.
func (c *Client) do(ctx context.Context, method, path string, v url.Values, in any, header http.Header) (*http.Response, error) {
	var body io.Reader
	switch in := in.(type) {
	case nil:
	case []byte:
		body = bytes.NewReader(in)
	case io.Reader:
		body = in
	default:
		data, err := json.Marshal(in)
		if err != nil {
			return nil, api.Errorf(api.CodeInvalid, "the request cannot be written as JSON: %v", err)
		}
		body = bytes.NewReader(data)
	}
	target := c.base.String() + path
	if encoded := v.Encode(); encoded != "" {
		target += "?" + encoded
	}
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "%s %s is not a request: %v", method, target, err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	c.authorize(req.Header)
	for key, values := range header {
		req.Header[key] = values
	}
	for attempt := 1; ; attempt++ {
		resp, err := c.http.Do(req)
		if err != nil {
			return nil, c.transportError(ctx, err)
		}
		if resp.StatusCode < 300 {
			return resp, nil
		}
		err = c.responseError(resp)
		resp.Body.Close()
		if !rewind(req) || !awaitTurn(ctx, resp, attempt) {
			return nil, err
		}
	}
}

func (c *Client) authorize(h http.Header) {
	h.Set("Accept", "application/json")
	if c.token != "" {
		h.Set("X-Nomad-Token", c.token)
	}
}

func (c *Client) decode(ctx context.Context, resp *http.Response, out any) error {
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		if isCutOff(err) {
			return c.transportError(ctx, err)
		}
		return api.Errorf(api.CodeInternal, "the answer of %s %s is not what it should be: %v",
			resp.Request.Method, resp.Request.URL.Path, err)
	}
	return nil
}

// pathf formats a path with escaped arguments.
func pathf(format string, ids ...string) string {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = url.PathEscape(id)
	}
	return fmt.Sprintf(format, args...)
}
