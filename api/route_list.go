// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// A RouteListStub is a route in list responses: the group's claim on the router, and the
// number of instances that receive its traffic.
type RouteListStub struct {
	Claim     string // host and path, or the router's port
	Namespace string
	JobID     string
	Group     string
	Route     *Route
	Weight    int     // of each instance
	Share     float64 // share of the claim's traffic that all of them receive together, 0 to 1
	Routable  int     // number of instances that may receive traffic
	Total     int     // number of instances that run or are to run
}
