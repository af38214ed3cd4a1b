// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/reeve-run/reeve/api"
)

// responseError converts an error response. Responses in plain text, of other servers, get the
// code of their status.
func (c *Client) responseError(resp *http.Response) error {
	data, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if resp.StatusCode == http.StatusBadRequest && resp.TLS == nil && startsWithAny(string(data), plainAnswers) {
		return c.speaksTLS()
	}
	var e api.Error
	if json.Unmarshal(data, &e) == nil && e.Code != "" {
		return &e
	}
	message := strings.TrimSpace(string(data))
	if message == "" {
		message = fmt.Sprintf("%s %s answered %s", resp.Request.Method, resp.Request.URL.Path, resp.Status)
	}
	return &api.Error{Code: codeOfStatus(resp.StatusCode), Message: message}
}

func codeOfStatus(status int) api.ErrorCode {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return api.CodeForbidden
	case http.StatusNotFound:
		return api.CodeNotFound
	case http.StatusConflict:
		return api.CodeConflict
	case http.StatusRequestEntityTooLarge:
		return api.CodeTooLarge
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return api.CodeUnavailable
	}
	if status < 500 {
		return api.CodeInvalid
	}
	return api.CodeInternal
}

// A NoAnswer is the error of a request without an answer. It wraps an *api.Error of
// api.CodeUnavailable.
type NoAnswer struct {
	Address string // address of the server
	Cause   string // short reason, such as "connection refused"
	err     *api.Error
	source  error
}

// Source returns the error of the connection. NoAnswer does not wrap it, because the deadline
// of a connection is not the deadline of the caller.
func (e *NoAnswer) Source() error { return e.source }

// Error names the server that did not answer, and the next step.
func (e *NoAnswer) Error() string { return e.err.Error() }

// Unwrap returns the *api.Error.
func (e *NoAnswer) Unwrap() error { return e.err }

// transportError explains why no answer arrived. A cancelled context is still detectable with
// errors.Is.
func (c *Client) transportError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if wrong := c.protocolError(err); wrong != nil {
		return wrong
	}
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT) {
		return c.noAnswer(err, "is an agent running at %s? start one with `reeve dev`", c.base.Host)
	}
	return c.noAnswer(err, "no answer from %s: %v", c.base.Host, err)
}

func (c *Client) noAnswer(cause error, format string, args ...any) error {
	return &NoAnswer{Address: c.Address(), Cause: causeOf(cause), source: cause, err: api.Errorf(api.CodeUnavailable, format, args...)}
}

// causeOf returns a short description of a connection's error.
func causeOf(err error) string {
	var number syscall.Errno
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &number):
		return number.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	}
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return err.Error()
}

// isCutOff reports whether an answer is unreadable because the connection broke, not because
// of its content.
func isCutOff(err error) bool {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	return !errors.As(err, &syntax) && !errors.As(err, &mismatch) && err != io.EOF
}

// stillLost returns the error of a read that stopped waiting for the server.
func stillLost(err error, after time.Duration) error {
	var no *NoAnswer
	if errors.As(err, &no) {
		return &NoAnswer{Address: no.Address, Cause: no.Cause, source: no.source, err: api.Errorf(api.CodeUnavailable,
			"the server at %s did not come back within %s: %s", no.Address, after, no.Cause)}
	}
	return api.Errorf(api.CodeUnavailable, "the server did not recover within %s: %v", after, err)
}
