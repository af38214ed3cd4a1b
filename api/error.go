// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// ErrorCode says what kind of thing went wrong. HTTPStatus is what interfaces
// over HTTP answer with; the command line has exit codes of its own.
type ErrorCode string

// Error codes.
const (
	CodeInvalid     ErrorCode = "invalid"     // the request is wrong: 400
	CodeForbidden   ErrorCode = "forbidden"   // 403
	CodeNotFound    ErrorCode = "not_found"   // 404
	CodeConflict    ErrorCode = "conflict"    // a check-and-set index, or a state that forbids it: 409
	CodeTooLarge    ErrorCode = "too_large"   // 413
	CodeUnavailable ErrorCode = "unavailable" // no leader, shutting down: 503
	CodeInternal    ErrorCode = "internal"    // 500; details are in the server's log
)

// HTTPStatus is the code's status; that of CodeInternal for any that is unknown.
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
	case CodeUnavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// Error is what a user is told went wrong.
type Error struct {
	Code    ErrorCode
	Message string   // what was wrong, and what to do
	Detail  []string `json:",omitempty"` // every single complaint, when there are several
}

// Error joins the message with its details.
func (e *Error) Error() string {
	if len(e.Detail) == 0 {
		return e.Message
	}
	return e.Message + ":\n  * " + strings.Join(e.Detail, "\n  * ")
}

// Errorf makes an Error of one sentence.
func Errorf(code ErrorCode, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// CodeOf is the code of the first Error that err wraps, else CodeInternal; ""
// for nil.
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
