// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package engine speaks the part of the Docker Engine API that the driver docker needs, over the
// daemon's socket. Daemons from version 20.10 have all of it.
//
// The package knows nothing of tasks. Its callers decide what an error means for them.
package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
)

// A Client talks to one daemon. It is safe for concurrent use.
type Client struct {
	socket string
	http   *http.Client
}

// New makes a client of the daemon that listens on a unix socket. It does not connect.
func New(socket string) *Client {
	c := &Client{socket: socket}
	c.http = &http.Client{Transport: &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return c.dial(ctx) },
		MaxIdleConnsPerHost: 4,
	}}
	return c
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// An Error is an answer of the daemon that reports a failure.
type Error struct {
	Status  int
	Message string
}

// Error returns the daemon's sentence.
func (e *Error) Error() string { return "the Docker daemon: " + e.Message }

// A DownError says that the daemon could not be reached, or broke off.
type DownError struct {
	Socket string
	Err    error
}

// Error names the socket.
func (e *DownError) Error() string {
	return fmt.Sprintf("the Docker daemon does not answer on %s: %v", e.Socket, e.Err)
}

// Unwrap returns the cause.
func (e *DownError) Unwrap() error { return e.Err }

// IsMissing reports whether the daemon has no such object.
func IsMissing(err error) bool { return statusOf(err) == http.StatusNotFound }

// IsConflict reports whether the object's state prevents the request, or its name is taken.
func IsConflict(err error) bool { return statusOf(err) == http.StatusConflict }

// IsUncertain reports whether the request may have had its effect in spite of the error.
func IsUncertain(err error) bool {
	var down *DownError
	return errors.As(err, &down) || statusOf(err) >= 500
}

func statusOf(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", c.socket)
}

// maxAnswer bounds an answer that is read whole, in bytes.
const maxAnswer = 16 << 20

// call sends a request with a JSON body, and decodes the answer into result; nil: it has none.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, body, result any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	answer, err := c.send(ctx, method, path, query, sent, http.Header{"Content-Type": {"application/json"}})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return c.broken(ctx, err)
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(text, result); err != nil {
		return fmt.Errorf("read the Docker daemon's answer to %s: %w", path, err)
	}
	return nil
}

// send sends a request. The caller closes the answer's body.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, body io.Reader, header http.Header) (*http.Response, error) {
	u := url.URL{Scheme: "http", Host: "docker", Path: path, RawQuery: query.Encode()}
	r, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.Header = header
	} else if a := header.Get(authHeader); a != "" {
		r.Header.Set(authHeader, a)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	if answer.StatusCode < 400 {
		return answer, nil
	}
	defer answer.Body.Close()
	return nil, readError(answer)
}

func readError(answer *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	var said struct{ Message string }
	if json.Unmarshal(text, &said) != nil || said.Message == "" {
		said.Message = fmt.Sprintf("%s %.200q", answer.Status, text)
	}
	return &Error{answer.StatusCode, said.Message}
}

// broken makes the error of a connection that failed. A caller that gave up gets its own error.
func (c *Client) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &DownError{c.socket, err}
}

// A Version describes a daemon.
type Version struct {
	Version    string
	APIVersion string `json:"ApiVersion"`
}

// Version asks the daemon for its version.
func (c *Client) Version(ctx context.Context) (v Version, err error) {
	return v, c.call(ctx, http.MethodGet, "/version", nil, nil, &v)
}

// Info describes the daemon's machine.
type Info struct {
	CgroupDriver  string
	CgroupVersion string
	Runtimes      map[string]json.RawMessage
}

// Info asks the daemon for its configuration.
func (c *Client) Info(ctx context.Context) (i Info, err error) {
	return i, c.call(ctx, http.MethodGet, "/info", nil, nil, &i)
}
