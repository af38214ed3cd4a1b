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
}

// Values of Route.Protocol.
const (
	RouteHTTP = "http" // HTTP/1.1 to the instance, WebSocket too
	RouteGRPC = "grpc" // HTTP/2 without TLS to the instance
	RouteTCP  = "tcp"
)

// Claim returns the route's claim, which is exclusive unless it is shared: a host and path,
// for all protocols, or one of the router's ports.
func (r *Route) Claim() string {
	if r.Protocol == RouteTCP {
		return "tcp port " + strconv.Itoa(r.Listen)
	}
	host := r.Host
	if host == "" {
		host = "any host"
	}
	return host + r.Path
}
