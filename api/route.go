// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"
	"time"
)

// A Route sends the router's traffic for a host and path, or for a router port, to the
// routable instances of a group.
type Route struct {
	Protocol string // one of the Route constants; "http" by default
	// Host is a lower-case name, "*.example.com" for every name one level below, or "" for
	// requests that match no other route. Not for tcp.
	Host string `json:",omitempty"`
	// Path is a prefix of the request's path, up to a slash; "/" by default. The longest
	// match wins. Not for tcp.
	Path string `json:",omitempty"`
	// Listen is the router's own port. Only for tcp.
	Listen int `json:",omitempty"`
	// Port is the label of the group's port.
	Port string
	// Weight is the relative share of traffic of each instance among those of the same
	// host and path; 1 by default, 0: none.
	Weight *int
	// Shared lets other jobs of the namespace make the same claim, if they share it too.
	// The instances of all of them get its traffic, by weight.
	Shared bool `json:",omitempty"`
	// Sticky, if set, is the name of a cookie that keeps a client with the first instance
	// that answered it. Not for tcp.
	Sticky string `json:",omitempty"`
	// StripPath removes Path from the request's path before the request is forwarded.
	StripPath bool `json:",omitempty"`
	// Timeout is the maximum wait for an answer's header; 0: the router's default.
	Timeout time.Duration `json:",omitempty"`
	// TLS says how the router treats TLS; nil: it serves the host over HTTP, and over HTTPS
	// if it has a certificate.
	TLS *RouteTLS `json:",omitempty"`
}

// RouteTLS says how the router treats TLS.
type RouteTLS struct {
	Mode string // one of the TLS constants; "terminate" by default
	// Redirect answers requests over plain HTTP with a redirect to HTTPS. Not for grpc.
	Redirect bool `json:",omitempty"`
}

// Values of RouteTLS.Mode.
const (
	TLSTerminate = "terminate" // the router decrypts, and forwards requests without TLS
	// TLSPassthrough passes TLS connections for the host to the instances without
	// decryption. For tcp, and without Listen.
	TLSPassthrough = "passthrough"
)

// Values of Route.Protocol.
const (
	RouteHTTP = "http" // HTTP/1.1 to the instance, WebSocket too
	RouteGRPC = "grpc" // HTTP/2 without TLS to the instance
	RouteTCP  = "tcp"
)

// Claim returns the route's claim, which is exclusive unless it is shared: a host and path,
// for all protocols, or one of the router's ports. A route with passthrough claims the host
// with path "/".
func (r *Route) Claim() string {
	if r.Protocol == RouteTCP && !r.IsPassthrough() {
		return "tcp port " + strconv.Itoa(r.Listen)
	}
	host := r.Host
	if host == "" {
		host = "any host"
	}
	if r.IsPassthrough() {
		return host + "/" // TLS names a host without a path
	}
	return host + r.Path
}

// IsPassthrough reports whether the route passes TLS connections on without decryption.
func (r *Route) IsPassthrough() bool { return r.TLS != nil && r.TLS.Mode == TLSPassthrough }

// Redirects reports whether requests over plain HTTP are redirected to HTTPS.
func (r *Route) Redirects() bool { return r.TLS != nil && r.TLS.Redirect }
