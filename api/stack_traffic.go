// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// A TrafficReport holds what one router counted for stacks since its last report. Servers
// check shifts with it, and keep stacks that undeclared callers use.
type TrafficReport struct {
	Router   string // random id of the router's process
	Sequence uint64 // number of the report, from 1; servers count each report once
	// Node is the node on the router's machine, to which callers with a loopback address
	// belong; "": none. The request then carries the node's secret.
	Node   string          `json:",omitempty"`
	Stacks []*StackTraffic `json:",omitempty"`
	Calls  []*StackCall    `json:",omitempty"`
}

// StackTraffic counts the requests that a router sent to a stack.
type StackTraffic struct {
	Namespace string
	Stack     string
	Requests  uint64
	Errors    uint64         `json:",omitempty"` // with a status from 500 to 599, or without a response
	Latency   []LatencyCount `json:",omitempty"` // of requests with a response
}

// A LatencyCount is the number of requests in one bucket of a histogram.
type LatencyCount struct {
	Below time.Duration // upper bound of the bucket
	Count uint64
}

// A StackCall reports that an address sent requests to a stack.
type StackCall struct {
	Namespace string
	Stack     string // that served the last request
	Want      string `json:",omitempty"` // feature version that the caller named; "": it named the stack
	Address   string // IP address of the caller
	// Allocation is the id of the caller on the router's node; "": not known.
	Allocation string        `json:",omitempty"`
	Ago        time.Duration `json:",omitempty"` // age of the last request
}

// A TrafficResponse answers a report.
type TrafficResponse struct {
	// Term identifies the leader's memory of reports. When it changes, routers report the
	// calls of the last hour again.
	Term string
}

// A ShiftTraffic holds the figures of a shift's two stacks over the last seconds.
type ShiftTraffic struct {
	Since    time.Time
	From, To StackFigures
}

// StackFigures are the figures of a stack over a time.
type StackFigures struct {
	Requests uint64
	Rate     float64       // requests per second
	Errors   float64       // ratio of responses with status 500 to 599, from 0 to 1
	P99      time.Duration // 0 without requests
}
