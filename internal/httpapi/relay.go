// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/reeve-run/reeve/internal/relay"
)

// Relayed writes.
//
// A server that does not lead sends small writes to the leader over one connection, with package
// relay. The leader handles them like HTTP requests, and everything that package httpapi decides
// about forwarded requests holds for them: who the caller is, how often they are forwarded, and
// when they may be repeated. The body is read before the request is sent, so that the connection
// does not wait for a slow caller.

// connectionHeaders are the headers that concern only the connection to the caller.
var connectionHeaders = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Expect",
}

// canRelay reports whether the request is a write that may use the connection for writes. The
// answers to others may have no end, or no limit.
func (c *call) canRelay() bool {
	return c.Server != nil && c.Relay != nil && isWrite(c.r) && c.route.Stream == "" &&
		c.r.ContentLength >= 0 && c.r.ContentLength <= relay.MaxBody
}

// relay forwards a write to the leader. It reports false if this server must answer the request.
func (c *call) relay(d *delivery) (done bool) {
	if d.hasBody {
		control := http.NewResponseController(c.w)
		control.SetReadDeadline(time.Now().Add(readTimeout))
		d.whole = make([]byte, c.r.ContentLength)
		if _, err := io.ReadFull(c.r.Body, d.whole); err != nil {
			c.fail(bodyError(err))
			return true
		}
		control.SetReadDeadline(time.Time{})
		d.body = newRecorder(bytes.NewReader(d.whole), relay.MaxBody)
	}
	d.relayed = true
	out := c.r.Clone(c.r.Context())
	for _, names := range out.Header["Connection"] {
		for name := range strings.SplitSeq(names, ",") {
			out.Header.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range connectionHeaders {
		delete(out.Header, name)
	}
	d.sign(out)
	resp, err := d.toLeader(out)
	if err != nil {
		d.fail(c.w, c.r, err)
		if d.kept {
			c.r.Body = d.body.reader()
		}
		return !d.kept
	}
	defer resp.Body.Close()
	header := c.w.Header()
	for name, values := range resp.Header {
		header[name] = values
	}
	http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(writeTimeout))
	c.w.WriteHeader(resp.StatusCode)
	if _, err := io.Copy(c.w, resp.Body); err != nil {
		panic(http.ErrAbortHandler) // the caller must not take a part for the whole
	}
	return true
}
