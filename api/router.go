// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// RouterStatus is what an agent's router says of itself.
type RouterStatus struct {
	HTTP       string   // where it listens for HTTP, host:port
	TCPAddress string   // where the ports of TCP routes are, an IP address
	Connected  bool     // to a server's catalog; without it the last table stays in use
	Index      uint64   // of the catalog that it routes by
	Updated    int64    // when the table changed last; Unix nanoseconds
	Problems   []string `json:",omitempty"` // what keeps a route from working, in words

	Connections int64          // of clients, open now
	Requests    uint64         // that were answered, by an instance or by the router itself
	Refused     uint64         // that could not be read safely, or were too large or too slow
	NoRoute     uint64         // for which there was no route
	Routes      []*RouterRoute // by host and path, then TCP ports
}

// A RouterRoute is one host and path, or one port, with its instances and what
// went through this router since it began.
type RouterRoute struct {
	Protocol  string
	Host      string            `json:",omitempty"`
	Path      string            `json:",omitempty"`
	Listen    int               `json:",omitempty"`
	Jobs      []string          // namespace/job of the instances
	Instances []*RouterInstance // by allocation

	Requests  uint64            // answered; for tcp: connections that ended
	Responses map[string]uint64 `json:",omitempty"` // by class, "2xx" and so on
	Retries   uint64            // further attempts, at another instance
	Unserved  uint64            // answered 502, 503 or 504 by the router itself; for tcp: connections that found no instance
	BytesIn   uint64            // of requests' bodies
	BytesOut  uint64            // of answers' bodies
	Latency   *RouterLatency    `json:",omitempty"` // from a request's head to its answer's end; for tcp: of the connection
}

// A RouterInstance is one allocation that a route leads to.
type RouterInstance struct {
	AllocID      string
	Address      string
	Weight       int
	Outstanding  int64  // requests under way
	Requests     uint64 // over all routes
	Failures     uint64 // no connection, no answer, or a status of 5xx
	EjectedUntil int64  `json:",omitempty"` // gets no traffic before; Unix nanoseconds
	EjectedFor   string `json:",omitempty"` // why, in words
	Ejections    uint64
}

// RouterLatency sums up durations, in nanoseconds. Percentiles are right within
// a tenth.
type RouterLatency struct {
	Count                    uint64
	Mean, P50, P90, P99, Max time.Duration
}
