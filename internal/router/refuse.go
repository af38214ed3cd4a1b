// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/reeve-run/reeve/internal/router/http1"
)

// A refusal is a response of the router itself to a request.
type refusal struct {
	status   int
	why      string
	location string // of a redirect
	text     string // that the client reads; "": why
}

func (r *refusal) Error() string { return r.why }

func bad(why string) *refusal { return &refusal{status: http.StatusBadRequest, why: why} }

// refusalOf returns the refusal of a request that the parser rejected.
func refusalOf(err *http1.Error) *refusal { return &refusal{status: err.Status, why: err.Reason} }

// statusClientGone is the status of a request whose client left before the
// response. The router never sends it.
const statusClientGone = 499

// errNeedsHTTP2 refuses HTTP/1 requests to gRPC routes.
var errNeedsHTTP2 = &refusal{status: http.StatusUpgradeRequired, why: "this route leads to gRPC: speak HTTP/2 to it, over TLS or with prior knowledge"}

func noRoute(host, target []byte) *refusal {
	return &refusal{status: http.StatusNotFound, why: fmt.Sprintf("no route leads from host %q and path %q to a job", host, pathOf(target))}
}

// countUnrouted counts a request that was refused because no stack serves it.
func (r *Router) countUnrouted(why *refusal) {
	if why.status == http.StatusNotFound {
		r.noRoute.Add(1)
	}
}

func pathOf(target []byte) string {
	path, _, _ := strings.Cut(string(target), "?")
	if len(path) > 200 {
		path = path[:200] + "..."
	}
	return path
}

// noInstance returns the refusal of a request whose route has no instance.
func noInstance(p *pool) *refusal {
	why := "no instance of " + p.where() + " can take traffic"
	switch {
	case len(p.stacks) > 0:
		why += ": its stacks have no share of the traffic"
	case len(p.targets) > 0:
		why += ": the routes to all of them have weight 0"
	case !p.emptied.IsZero():
		why += ": the last one left " + time.Since(p.emptied).Round(time.Second).String() + " ago"
	}
	return &refusal{status: http.StatusServiceUnavailable, why: why}
}

// where describes a pool.
func (p *pool) where() string {
	if job, ok := jobOfStack(p.key); ok {
		if job != "" {
			return "stack " + job
		}
		return fmt.Sprintf("unit %s in namespace %s that satisfies version %s", p.unit.Unit, p.unit.Namespace, p.want)
	}
	switch {
	case p.key.listen == passthroughs:
		return fmt.Sprintf("TLS host %q", p.key.host)
	case p.key.listen != 0:
		return fmt.Sprintf("TCP port %d", p.key.listen)
	case p.key.host == "":
		return fmt.Sprintf("any host, path %q", p.key.path+"/")
	}
	return fmt.Sprintf("host %q, path %q", p.key.host, p.key.path+"/")
}

// inWords describes an error of a connection, without the addresses.
func inWords(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timed out"
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	return err.Error()
}

// body returns the text that the client reads.
func (r *refusal) body(id string) string {
	if r.text != "" {
		return r.text
	}
	return fmt.Sprintf("%d %s: %s\nrequest id: %s\n", r.status, http.StatusText(r.status), r.why, id)
}

// refuse responds to a request without an instance.
func (c *conn) refuse(why *refusal) {
	rec := &c.record
	if rec.id == "" {
		rec.id = newRequestID()
	}
	rec.status, rec.why = why.status, why.why
	if why.status != statusClientGone {
		text := why.body(rec.id)
		out := append(c.out[:0], "HTTP/1.1 "...)
		out = strconv.AppendInt(out, int64(why.status), 10)
		out = append(out, ' ')
		out = append(out, http.StatusText(why.status)...)
		out = append(out, "\r\nContent-Type: text/plain; charset=utf-8\r\nX-Request-Id: "...)
		out = append(out, rec.id...)
		out = append(out, "\r\nContent-Length: "...)
		out = strconv.AppendInt(out, int64(len(text)), 10)
		if why.status == http.StatusServiceUnavailable {
			out = append(out, "\r\nRetry-After: 1"...)
		}
		if why.location != "" {
			out = append(append(out, "\r\nLocation: "...), why.location...)
		}
		q := &c.request
		if q.Close || !keepsOpen(why.status, q.Chunked || q.Length > 0) {
			q.Close = true
			out = append(out, "\r\nConnection: close"...)
		}
		out = append(out, "\r\n\r\n"...)
		if string(c.request.Method) != http.MethodHead {
			out = append(out, text...)
			rec.out = int64(len(text))
		}
		c.out = out
		if c.send(out) != nil {
			c.request.Close = true
		}
	}
	c.finish()
}

// keepsOpen reports whether another request may follow one that the router
// refused with a status.
func keepsOpen(status int, hasBody bool) bool {
	switch status {
	case http.StatusPermanentRedirect, http.StatusNotFound, http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout:
		return !hasBody
	}
	return false
}
