// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"fmt"
	"time"
)

// A WarmUp is the warm block of a stack: the requests that each instance answers before it
// is healthy and receives traffic.
type WarmUp struct{ HTTP []*WarmRequests }

// WarmRequests are GET requests that the instances of a stack share.
type WarmRequests struct {
	Path     string
	Requests int           // to all instances of the stack together
	Over     time.Duration // time over which they are spread evenly
}

// PerInstance returns how many of the requests one of several instances receives.
func (w *WarmRequests) PerInstance(instances int) int {
	instances = max(instances, 1)
	return (w.Requests + instances - 1) / instances
}

// WarmProgress counts the requests of a warm-up.
type WarmProgress struct {
	Total   int    // requests to send
	Sent    int    // requests that were answered or failed
	Failed  int    `json:",omitempty"` // of Sent: no answer, or a status of 400 or more
	Failure string `json:",omitempty"` // the last failure
	Done    bool   `json:",omitempty"` // reports whether the warm-up has ended
}

// String describes the progress, such as "warming: 120 of 200 requests, 3 failed".
func (w *WarmProgress) String() string {
	if w == nil {
		return ""
	}
	verb := "warming"
	if w.Done {
		verb = "warmed"
	}
	text := fmt.Sprintf("%s: %d of %d requests", verb, w.Sent, w.Total)
	if w.Failed > 0 {
		text += fmt.Sprintf(", %d failed", w.Failed)
	}
	return text
}

// Plus returns the sum of the warm-ups of two instances. It is done when both are.
func (w *WarmProgress) Plus(other *WarmProgress) *WarmProgress {
	if w == nil || other == nil {
		return cmp.Or(w, other)
	}
	sum := &WarmProgress{
		Total: w.Total + other.Total, Sent: w.Sent + other.Sent, Failed: w.Failed + other.Failed,
		Failure: w.Failure, Done: w.Done && other.Done,
	}
	if sum.Failure == "" {
		sum.Failure = other.Failure
	}
	return sum
}
