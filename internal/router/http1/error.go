// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package http1

import "net/http"

// An Error is the reason why the parser rejects a message.
type Error struct {
	Status int // that answers such a request
	Reason string
}

func (e *Error) Error() string { return e.Reason }

func bad(reason string) *Error { return &Error{http.StatusBadRequest, reason} }
