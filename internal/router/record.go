// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import "time"

// A record is all that the access log says of one request.
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
	dropped   int // instances that took it and gave no answer
	instance  *instance
	why       string // what the router itself had to say
	counts    *counters
	truncated bool // the answer ended too early
	logged    bool // it is in the access log's sample
}

// request takes what will be logged from a request. The strings are views: a
// record is written before the next request is read.
func (r *record) request(q *request) {
	r.method, r.host, r.target = view(q.method), view(q.host), view(q.target)
	if q.minor == 0 {
		r.proto = "HTTP/1.0"
	}
}

// finish counts a request and logs it.
func (c *conn) finish() {
	rec := &c.record
	if rec.attempts > 0 {
		rec.in = c.body.read.Load()
	}
	if log := c.router.access; log != nil && log.wants() {
		rec.logged = true
		for i := range c.request.fields {
			switch f := &c.request.fields[i]; {
			case equalFold(f.name, "user-agent"):
				rec.agent = view(f.value)
			case equalFold(f.name, "referer"):
				rec.referer = view(f.value)
			}
		}
	}
	c.router.finish(rec)
}

func (r *Router) finish(rec *record) {
	took := time.Since(rec.begun)
	r.requests.Add(1)
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
