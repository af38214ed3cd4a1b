// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// responded inspects an instance's response before ReverseProxy forwards it.
func (x *exchange) responded(a *http.Response) {
	x.record.status = a.StatusCode
	switch {
	case a.StatusCode >= 500:
		x.pool.failed(x.target.instance, "status "+strconv.Itoa(a.StatusCode))
	case x.reading.limit == 0: // a stream or a tunnel, which may last for days
		x.target.ejection.succeeded(ticks(time.Now()))
	}
	if x.pool.sticky != "" && x.session != x.target.cookie() {
		a.Header.Add("Set-Cookie", setSession(x.pool, x.target.instance, x.secure))
	}
	if x.fresh != "" {
		a.Header.Add("Set-Cookie", setCookie(clientCookie, x.fresh, "/", x.secure))
	}
	if x.choice.preview { // no cache may serve a preview to others
		a.Header.Add("Vary", stackField)
	}
	if x.isHTTP1 && x.tunnel == nil && !x.body.isRead() {
		a.Header.Set("Connection", "close") // the rest of the request must not be read as another one
	}
}

// ended counts a response as a success or a failure of its instance. The err is
// the error of the response's body, nil if the router closed the body early; the
// cause is the reason why the router cancelled the request.
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
	if nc, ok := req.Context().Value(connKey{}).(*handedConn); ok && !req.ProtoAtLeast(1, 1) {
		nc.SetLinger(0) // a reset, because a regular end would mark the end of the body
		if req.TLS != nil {
			nc.Close() // before TLS sends its own regular end
		}
	}
	if a.StatusCode < 500 && x.body.refused.Load() == nil {
		x.pool.failed(x.target.instance, x.record.why)
	}
}

// refuse responds without an instance. A gRPC client receives a gRPC status,
// because it would have to guess the meaning of an HTTP status.
func (x *exchange) refuse(w http.ResponseWriter, err error) {
	var why *refusal
	if !errors.As(err, &why) {
		why = &refusal{status: http.StatusBadGateway, why: inWords(err)}
	}
	x.record.status, x.record.why = why.status, why.why
	h := w.Header()
	if x.isHTTP1 && !keepsOpen(why.status, x.body.ReadCloser != http.NoBody) {
		h.Set("Connection", "close")
	}
	if why.status == statusClientGone {
		if x.isHTTP1 {
			panic(http.ErrAbortHandler) // otherwise net/http would send 200
		}
		return
	}
	h.Set("X-Request-Id", x.record.id)
	if x.grpc && !x.isHTTP1 {
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
	if why.location != "" {
		h.Set("Location", why.location)
	}
	text := why.body(x.record.id)
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(why.status)
	io.WriteString(w, text)
	http.NewResponseController(w).Flush() // within the time limit of the response
}

// grpcStatus returns the gRPC status for an HTTP status.
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
