// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// statusClientGone is the status after the caller disconnected. It is neither logged nor
// sent.
const statusClientGone = 499

func internalError(id string) *api.Error {
	return api.Errorf(api.CodeInternal, "something went wrong in the server; its log says what, at request %s", id)
}

// fail answers with an error. It logs internal errors, and answers with a number that
// finds the error in the log.
func (c *call) fail(err error) {
	var conflict *variableConflict
	if errors.As(err, &conflict) {
		_ = c.writeJSON(http.StatusConflict, conflict.answer)
		return
	}
	var shown *api.Error
	switch {
	case errors.As(err, &shown) && shown.Code != api.CodeInternal:
	case c.r.Context().Err() != nil:
		c.w.WriteHeader(statusClientGone)
		return
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		shown = api.Errorf(api.CodeUnavailable, "the server did not get it done in time; it may still happen")
	default:
		id := api.ShortID(api.NewID())
		c.Logger.Error("request failed", "request", id, "method", c.r.Method, "path", c.r.URL.Path, "error", err)
		shown = internalError(id)
	}
	if shown.Code.HTTPStatus() >= http.StatusInternalServerError {
		c.Metrics.Failure()
	}
	sayWhen(c.w.Header(), err)
	writeError(c.w, c.r, shown)
}

// writeError writes an error as text, which clients print, or as JSON for clients that
// request it.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	e := asError(err)
	sayWhen(w.Header(), err)
	writeErrorStatus(w, r, e.Code.HTTPStatus(), e)
}

// asError returns an error in the form of the API.
func asError(err error) *api.Error {
	var e *api.Error
	if !errors.As(err, &e) {
		e = api.Errorf(api.CodeInternal, "%v", err)
	}
	return e
}

func writeErrorStatus(w http.ResponseWriter, r *http.Request, status int, e *api.Error) {
	body, kind := []byte(e.Error()), "text/plain; charset=utf-8"
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		body, _ = json.Marshal(e)
		kind = "application/json"
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(body)
}
