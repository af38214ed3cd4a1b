// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"time"

	"github.com/reeve-run/reeve/internal/router/http1"
)

// A record is what the access log contains about one request.
type record struct {
	begun     time.Time
	id        string
	client    string
	method    string
	host      string
	target    string
	proto     string
	agent     string
	referer   string
	status    int
	in, out   int64 // bytes of bodies
	attempts  int
	dropped   int // instances that received it and did not respond
	instance  *instance
	why       string // reason of the router's own response, or of a truncated one
	counts    *counters
	truncated bool // reports whether the response ended too early
	logged    bool // reports whether it is in the access log's sample
}

// request copies the logged fields from a request. The strings share the memory
// of the head, because the router writes the record before it reads the next
// request.
func (r *record) request(q *http1.Request) {
	r.method, r.host, r.target = http1.View(q.Method), http1.View(q.Host), http1.View(q.Target)
	if q.Minor == 0 {
		r.proto = "HTTP/1.0"
	}
}

// finish counts and logs a request.
func (c *conn) finish() {
	rec := &c.record
	if rec.attempts > 0 {
		rec.in = c.body.read.Load()
	}
	if log := c.router.access; log != nil && log.wants() {
		rec.logged = true
		for i := range c.request.Fields {
			switch f := &c.request.Fields[i]; {
			case http1.EqualFold(f.Name, "user-agent"):
				rec.agent = http1.View(f.Value)
			case http1.EqualFold(f.Name, "referer"):
				rec.referer = http1.View(f.Value)
			}
		}
	}
	c.router.finish(rec)
}

func (r *Router) finish(rec *record) {
	took := time.Since(rec.begun)
	r.requests.Add(1)
	if rec.instance != nil && rec.instance.stack != nil {
		rec.instance.stack.answered(rec.status, took)
	}
	if rec.counts != nil {
		rec.counts.answered(rec.status, rec.in, rec.out, took)
		if rec.why != "" && !rec.truncated && rec.status >= 502 && rec.status <= 504 {
			rec.counts.unserved.Add(1)
		}
	} else if rec.status != 404 {
		r.refused.Add(1)
	}
	if r.access != nil {
		r.access.write(rec, took)
	}
}
