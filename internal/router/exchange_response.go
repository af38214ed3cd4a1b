// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
)

// failed says what went wrong, and whether another instance may be asked.
func (x *exchange) failed(req *http.Request, err error, hasBody bool) (*refusal, bool) {
	t := x.target
	var connecting *dialError
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return refused, false
	case req.Context().Err() != nil:
		return &refusal{statusClientGone, errClientGone.Error()}, false
	case errors.As(err, &connecting):
		x.pool.unreachable(t.instance, connecting.error)
		return &refusal{http.StatusBadGateway, fmt.Sprintf("the instance %s at %s took no connection: %s", api.ShortID(t.alloc), t.address, inWords(connecting.error))}, true
	}
	x.pool.failed(t.instance, "no answer: "+inWords(err))
	status := http.StatusBadGateway
	if errors.Is(err, errTimeout) {
		status = http.StatusGatewayTimeout
	}
	if !t.gone.Load() {
		x.record.dropped++
	}
	again := status == http.StatusBadGateway && !hasBody && isIdempotent(req.Method) && x.record.dropped < 2
	return &refusal{status, fmt.Sprintf("the instance %s at %s gave no answer: %s", api.ShortID(t.alloc), t.address, inWords(err))}, again
}

// answered looks at an instance's answer before it is passed on.
func (x *exchange) answered(a *http.Response) {
	x.record.status = a.StatusCode
	if a.StatusCode >= 500 {
		x.pool.failed(x.target.instance, "status "+strconv.Itoa(a.StatusCode))
	} else if x.reading.limit == 0 { // a stream, whose end may be days away
		x.target.ejection.succeeded(ticks(time.Now()))
	}
	if x.pool.sticky != "" && x.session != x.target.cookie() {
		a.Header.Add("Set-Cookie", setSession(x.pool, x.target.instance))
	}
}

// ended counts an answer as a success or a failure of its instance, by what
// ended it: an error of its body, nil if nobody wanted the rest, and the cause
// that cancelled its request.
func (x *exchange) ended(req *http.Request, a *http.Response, err, cause error) {
	switch {
	case err == io.EOF:
		if a.StatusCode < 500 {
			x.target.ejection.succeeded(ticks(time.Now()))
		}
		return
	case err == nil, req.Context().Err() != nil:
		x.record.truncated, x.record.status = true, statusClientGone
		return
	case errors.Is(cause, errStalled):
		err = errStalled
	}
	x.record.truncated, x.record.why = true, cutShort(err)
	if a.StatusCode < 500 && !x.body.bad.Load() {
		x.pool.failed(x.target.instance, x.record.why)
	}
}

// refuse answers by the router itself; to gRPC in its own way, without which a
// client would only see a status that it has to guess the meaning of.
func (x *exchange) refuse(w http.ResponseWriter, err error) {
	var why *refusal
	if !errors.As(err, &why) {
		why = &refusal{http.StatusBadGateway, inWords(err)}
	}
	x.record.status, x.record.why = why.status, why.why
	if why.status == statusClientGone {
		return
	}
	h := w.Header()
	h.Set("X-Request-Id", x.record.id)
	if x.grpc {
		h.Set("Content-Type", "application/grpc")
		h.Set("Grpc-Status", strconv.Itoa(grpcStatus(why.status)))
		h.Set("Grpc-Message", url.PathEscape(why.why+" (request id "+x.record.id+")"))
		w.WriteHeader(http.StatusOK)
		return
	}
	h.Set("Content-Type", "text/plain; charset=utf-8")
	if why.status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "1")
	}
	text := why.body(x.record.id)
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(why.status)
	io.WriteString(w, text)
	http.NewResponseController(w).Flush() // within the time that a client has to take it
}

// grpcStatus is what gRPC calls a status.
func grpcStatus(status int) int {
	switch status {
	case http.StatusNotFound:
		return 12 // unimplemented
	case http.StatusBadGateway, http.StatusServiceUnavailable:
		return 14 // unavailable
	case http.StatusGatewayTimeout:
		return 4 // deadline exceeded
	case http.StatusRequestEntityTooLarge:
		return 8 // resource exhausted
	}
	return 13 // internal
}
