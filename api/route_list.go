// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// A RouteListStub is a route as lists show it: what a group claims of the router,
// and how many of its instances get that traffic.
type RouteListStub struct {
	Claim     string // host and path, or the router's port
	Namespace string
	JobID     string
	Group     string
	Route     *Route
	Weight    int     // of each instance
	Share     float64 // part of the claim's traffic that all of them get together, 0 to 1
	Routable  int     // instances that traffic may go to
	Total     int     // instances that run, or are to
}
