// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"net/url"
	"strings"
	"time"
)

// Bounds of a warm block.
const (
	maxWarmBlocks   = 10
	maxWarmRequests = 100_000
	maxWarmRate     = 1000 // requests per second
	maxWarmPath     = 2048
	minWarmOver     = time.Second
	maxWarmOver     = time.Hour
)

// WarmTimeout is the longest time of a request of a warm-up. A warm-up ends at most this
// time after its last request is due.
const WarmTimeout = 5 * time.Second

func (c *stackCheck) warm() {
	w := c.spec.Warm
	if w == nil {
		return
	}
	switch {
	case c.shape != ShapeService:
		c.add(w, "", "warm: the job has no port that requests can be sent to; remove the block, or label one port %q", defaultPort)
	case len(w.HTTP) == 0:
		c.add(w, "", "warm: has no requests; add http { path = \"/\"  requests = 100  over = \"30s\" }")
	case len(w.HTTP) > maxWarmBlocks:
		c.add(w, "", "warm: %d http blocks are more than %d", len(w.HTTP), maxWarmBlocks)
		return
	}
	var longest time.Duration
	for _, r := range w.HTTP {
		if r == nil {
			c.add(w, "", "warm: an http block is null")
			continue
		}
		c.warmRequests(r)
		longest = max(longest, r.Over)
	}
	c.warmDeadline(w, longest)
}

func (c *stackCheck) warmRequests(r *WarmRequests) {
	if !isRequestPath(r.Path) {
		c.add(r, "path", "warm: path %q: must be a path such as \"/warm?size=1\", of at most %d characters without spaces", Printable(r.Path, 64), maxWarmPath)
	}
	if r.Requests < 1 || r.Requests > maxWarmRequests {
		c.add(r, "requests", "warm: requests %d: must be between 1 and %d", r.Requests, maxWarmRequests)
	}
	switch {
	case r.Over < minWarmOver || r.Over > maxWarmOver:
		c.add(r, "over", "warm: over %s: must be between %s and %s", r.Over, minWarmOver, maxWarmOver)
	case float64(r.Requests) > maxWarmRate*r.Over.Seconds():
		c.add(r, "requests", "warm: %d requests over %s are more than %d in a second; send fewer, or spread them over a longer time", r.Requests, r.Over, maxWarmRate)
	}
}

// warmDeadline refuses a warm-up that no instance completes before its healthy_deadline.
func (c *stackCheck) warmDeadline(w *WarmUp, longest time.Duration) {
	name, _, _ := c.job.StackPort()
	for _, g := range c.job.Groups {
		if g == nil || g.Name != name || g.Update == nil || g.Update.HealthyDeadline == nil || g.Update.MinHealthyTime == nil {
			continue
		}
		need := longest + WarmTimeout + *g.Update.MinHealthyTime
		if deadline := *g.Update.HealthyDeadline; deadline > 0 && need > deadline && longest <= maxWarmOver {
			c.add(w, "", "warm: an instance needs up to %s to be healthy (over %s, %s for the last request, min_healthy_time %s), but healthy_deadline of group %q is %s; raise it, or shorten over",
				need, longest, WarmTimeout, *g.Update.MinHealthyTime, g.Name, deadline)
		}
	}
}

// isRequestPath reports whether a text is the target of a request: a path, perhaps with a query.
func isRequestPath(path string) bool {
	if len(path) > maxWarmPath || !strings.HasPrefix(path, "/") ||
		strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }) {
		return false
	}
	_, err := url.ParseRequestURI(path)
	return err == nil
}
