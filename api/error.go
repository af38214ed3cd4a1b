// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// An ErrorCode classifies an error. HTTPStatus returns its HTTP status; the command line
// has its own exit codes.
type ErrorCode string

// Error codes.
const (
	CodeInvalid     ErrorCode = "invalid"      // the request is invalid: 400
	CodeForbidden   ErrorCode = "forbidden"    // 403
	CodeNotFound    ErrorCode = "not_found"    // 404
	CodeConflict    ErrorCode = "conflict"     // a check-and-set index or the current state does not permit it: 409
	CodeTooLarge    ErrorCode = "too_large"    // 413
	CodeRateLimited ErrorCode = "rate_limited" // 429
	CodeUnavailable ErrorCode = "unavailable"  // no leader, shutting down: 503
	CodeInternal    ErrorCode = "internal"     // 500; details are in the server's log
)

// HTTPStatus returns the HTTP status of the code, or that of CodeInternal for an unknown
// code.
func (c ErrorCode) HTTPStatus() int {
	switch c {
	case CodeInvalid:
		return http.StatusBadRequest
	case CodeForbidden:
		return http.StatusForbidden
	case CodeNotFound:
		return http.StatusNotFound
	case CodeConflict:
		return http.StatusConflict
	case CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case CodeRateLimited:
		return http.StatusTooManyRequests
	case CodeUnavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// Error is an error for users.
type Error struct {
	Code    ErrorCode
	Message string   // the problem and the next step
	Detail  []string `json:",omitempty"` // the individual problems, if there are several
}

// Error joins the message with its details.
func (e *Error) Error() string {
	if len(e.Detail) == 0 {
		return e.Message
	}
	return e.Message + ":\n  * " + strings.Join(e.Detail, "\n  * ")
}

// Errorf returns an Error with a formatted message.
func Errorf(code ErrorCode, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// CodeOf returns the code of the first Error that err wraps, CodeInternal if there is
// none, or "" if err is nil.
func CodeOf(err error) ErrorCode {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}
