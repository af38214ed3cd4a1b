// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"errors"
	"net/http"
)

// errTooLarge is the error of an answer that does not fit into a frame.
var errTooLarge = errors.New("the answer is too large for a connection for writes")

// An answer is the http.ResponseWriter of a request. It keeps the whole answer.
type answer struct {
	header   http.Header
	status   int // 0 before the first byte
	body     []byte
	tooLarge bool
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	if len(a.body)+len(p) > maxAnswer-maxRequest {
		a.tooLarge = true
		return 0, errTooLarge
	}
	a.status = a.code()
	a.body = append(a.body, p...)
	return len(p), nil
}

// code returns the status of a complete answer.
func (a *answer) code() int {
	if a.status == 0 {
		return http.StatusOK
	}
	return a.status
}
