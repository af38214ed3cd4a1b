// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"net/netip"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/latency"
)

const (
	// maxListed bounds the stacks, and the calls, of a report.
	maxListed = 10_000
	// maxRequests bounds the requests of a stack in a report.
	maxRequests = 100_000_000
	// maxRouterID bounds the id of a router.
	maxRouterID = 64
	// maxAgo bounds the age of a call.
	maxAgo = 2 * time.Hour
)

// Validate returns an error that describes a report if it is invalid.
func Validate(r *api.TrafficReport) error {
	switch {
	case r == nil:
		return api.Errorf(api.CodeInvalid, "the request holds no report: send {\"Router\": \"...\", \"Sequence\": 1}")
	case r.Router == "" || len(r.Router) > maxRouterID:
		return api.Errorf(api.CodeInvalid, "Router: must be an id of 1 to %d bytes", maxRouterID)
	case r.Sequence == 0:
		return api.Errorf(api.CodeInvalid, "Sequence: must be at least 1")
	case len(r.Stacks) > maxListed:
		return api.Errorf(api.CodeInvalid, "Stacks: %d are more than %d; send several reports", len(r.Stacks), maxListed)
	case len(r.Calls) > maxListed:
		return api.Errorf(api.CodeInvalid, "Calls: %d are more than %d; send several reports", len(r.Calls), maxListed)
	}
	for i, t := range r.Stacks {
		if text := problemOf(t); text != "" {
			return api.Errorf(api.CodeInvalid, "Stacks[%d]: %s", i, text)
		}
	}
	for i, c := range r.Calls {
		if text := problemOfCall(c); text != "" {
			return api.Errorf(api.CodeInvalid, "Calls[%d]: %s", i, text)
		}
	}
	return nil
}

func problemOf(t *api.StackTraffic) string {
	switch {
	case t == nil:
		return "must not be null"
	case t.Requests > maxRequests:
		return "Requests: too many for one report"
	case t.Errors > t.Requests:
		return "Errors: more than Requests"
	case len(t.Latency) > latency.Buckets:
		return "Latency: too many buckets"
	}
	left := t.Requests
	for _, l := range t.Latency {
		if l.Below <= 0 || l.Count > left {
			return "Latency: Below must be positive, and the sum of Count at most Requests"
		}
		left -= l.Count
	}
	return ""
}

func problemOfCall(c *api.StackCall) string {
	switch {
	case c == nil:
		return "must not be null"
	case c.Ago < 0 || c.Ago > maxAgo:
		return "Ago: must be between 0 and " + maxAgo.String()
	}
	if a, err := netip.ParseAddr(c.Address); err != nil || a.Zone() != "" {
		return "Address: must be an IP address"
	}
	if _, err := api.ParseFeatureVersion(c.Want); err != nil && c.Want != "" {
		return "Want: " + err.Error()
	}
	return ""
}
