// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// RouterStatus is the status of an agent's router.
type RouterStatus struct {
	HTTP       string   // where it listens for HTTP, host:port
	HTTPS      string   `json:",omitempty"` // where it listens for HTTPS, host:port; "" without HTTPS
	Engine     string   // that serves HTTP/1: "fast" or "standard"
	TCPAddress string   // where the ports of TCP routes are, an IP address
	Connected  bool     // reports whether it is connected to a server's catalog; otherwise it keeps the last table
	Index      uint64   // index of the catalog in use
	Updated    int64    // time of the table's last change; Unix nanoseconds
	Problems   []string `json:",omitempty"` // problems that prevent routes from working, in words

	Connections int64          // open client connections
	Requests    uint64         // requests answered, by an instance or by the router itself
	Refused     uint64         // requests that were malformed, too large or too slow
	NoRoute     uint64         // requests without a route
	Routes      []*RouterRoute // by host and path, then TCP ports

	TLS          *RouterTLS           `json:",omitempty"` // handshakes of HTTPS; nil without HTTPS
	Certificates []*RouterCertificate `json:",omitempty"` // of HTTPS, in the order of the configuration
}

// RouterTLS counts the connections to the address of HTTPS.
type RouterTLS struct {
	Pending     int64  // handshakes in progress
	Terminated  uint64 // handshakes that succeeded
	Passed      uint64 // connections that went to instances without decryption
	UnknownName uint64 // handshakes for names without a certificate
	Failed      uint64 // handshakes that failed for other reasons
	Dropped     uint64 // handshakes that the router ended in favour of newer ones
}

// A RouterCertificate is a certificate of a router.
type RouterCertificate struct {
	Source  string   // file of the certificate, or the variable with it
	Names   []string `json:",omitempty"` // DNS names, wildcards and addresses; none if it is unusable
	Expires int64    `json:",omitempty"` // Unix nanoseconds; 0 if it is unusable
	// Problem is the reason why the newest content of the source is not in use, or why clients
	// reject the certificate; "" if it is in order.
	Problem string `json:",omitempty"`
	// Warning says that the certificate is about to expire, in the last tenth of its life.
	Warning string `json:",omitempty"`
}

// A RouterRoute is one host and path, or one port, with its instances and this router's
// traffic since it started.
type RouterRoute struct {
	Protocol  string
	Host      string            `json:",omitempty"`
	Path      string            `json:",omitempty"`
	Listen    int               `json:",omitempty"`
	TLS       string            `json:",omitempty"` // "passthrough": the router passes TLS connections for the host to the instances
	Jobs      []string          // namespace/job of the instances
	Instances []*RouterInstance // by allocation

	Requests  uint64            // requests answered; for tcp: connections ended
	Responses map[string]uint64 `json:",omitempty"` // by class, "2xx" and so on
	Retries   uint64            // further attempts, on another instance
	Unserved  uint64            // answered 502, 503 or 504 by the router itself; for tcp: connections that found no instance
	BytesIn   uint64            // bytes of request bodies
	BytesOut  uint64            // bytes of response bodies
	Latency   *RouterLatency    `json:",omitempty"` // from the request's head to the end of the answer; for tcp: of the connection
}

// A RouterInstance is one allocation that a route leads to.
type RouterInstance struct {
	AllocID      string
	Address      string
	Weight       int
	Outstanding  int64  // requests in progress
	Requests     uint64 // total over all routes
	Failures     uint64 // no connection, no answer, or a status of 5xx
	EjectedUntil int64  `json:",omitempty"` // end of its ejection, until which it gets no traffic; Unix nanoseconds
	EjectedFor   string `json:",omitempty"` // reason of its ejection, in words
	Ejections    uint64
}

// RouterLatency summarizes durations, in nanoseconds. Percentiles are accurate within a
// tenth.
type RouterLatency struct {
	Count                    uint64
	Mean, P50, P90, P99, Max time.Duration
}
