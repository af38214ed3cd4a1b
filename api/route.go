// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"
	"time"
)

// A Route sends the router's traffic for a host and path, or for a port of its
// own, to the routable instances of a group.
type Route struct {
	Protocol string // one of the Route constants; "http" by default
	// Host is a name in lower case, "*.example.com" for every name one level below,
	// or "" for what no other route wants. Not for tcp.
	Host string `json:",omitempty"`
	// Path is the beginning of the request's path, at a slash; "/" by default. The
	// longest one wins. Not for tcp.
	Path string `json:",omitempty"`
	// Listen is the router's own port. Only for tcp.
	Listen int `json:",omitempty"`
	// Port is the label of the group's port.
	Port string
	// Weight is the share of the traffic that each instance gets, relative to the
	// others of the same host and path; 1 by default, 0: none.
	Weight *int
	// Shared lets other jobs of the namespace have the same claim, if they share it,
	// too: the instances of all of them get its traffic, by weight.
	Shared bool `json:",omitempty"`
	// Sticky, when set, keeps a client with the instance that answered it first, by
	// a cookie of that name. Not for tcp.
	Sticky string `json:",omitempty"`
	// StripPath takes Path off the request's path before it is passed on.
	StripPath bool `json:",omitempty"`
	// Timeout bounds the wait for an answer's header; 0: the router's default.
	Timeout time.Duration `json:",omitempty"`
}

// Values of Route.Protocol.
const (
	RouteHTTP = "http" // HTTP/1.1 to the instance, WebSocket too
	RouteGRPC = "grpc" // HTTP/2 without TLS to the instance
	RouteTCP  = "tcp"
)

// Claim names what the route takes for its job, alone unless it is shared: protocol
// apart, one host and path, or one of the router's ports.
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
