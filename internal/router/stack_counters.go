// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/latency"
)

// stackCounters counts the requests to one stack, for the reports to the servers. The
// requests of its instances share them.
type stackCounters struct {
	namespace, stack string

	requests atomic.Uint64
	errors   atomic.Uint64
	latency  [latency.Buckets]atomic.Uint64
	took     atomic.Int64 // sum of the latencies, in nanoseconds
	calls    calls

	instances int       // in the catalog; owned by the applier
	emptied   time.Time // time when the last instance left; owned by the applier
	reported  counted   // owned by the reporter
}

// counted is a copy of counters.
type counted struct {
	requests, errors uint64
	latency          latency.Counts
}

// stackOf returns the counters of a job that is a stack, nil for any other job.
func (a *applier) stackOf(namespace, job string) *stackCounters {
	key := namespace + "/" + job
	if s := a.stacks[key]; s != nil {
		return s
	}
	if !strings.Contains(job, "--") {
		return nil
	}
	if _, _, _, ok := api.ParseStackName(job); !ok {
		return nil
	}
	s := &stackCounters{namespace: namespace, stack: job}
	a.stacks[key] = s
	return s
}

// gained counts an instance that joined the catalog. A nil receiver is a job that is not a stack,
// here and in lost.
func (s *stackCounters) gained() {
	if s != nil {
		s.instances++
	}
}

// lost counts an instance that left the catalog at a time.
func (s *stackCounters) lost(now time.Time) {
	if s != nil {
		s.instances--
		s.emptied = now
	}
}

// answered counts a request that ended with a status, or with 0 if its client received none.
func (s *stackCounters) answered(status int, took time.Duration) {
	s.requests.Add(1)
	if status >= 500 {
		s.errors.Add(1)
	}
	if status != http.StatusSwitchingProtocols { // a tunnel may last for days
		s.latency[latency.Bucket(took)].Add(1)
		s.took.Add(int64(took))
	}
}

// retried counts an attempt that failed, after which the router sends the request to another
// instance. A stack would otherwise look healthy because others answer for it. An
// instance that left the catalog did not fail.
func (i *instance) retried() {
	if i.stack != nil && !i.gone.Load() {
		i.stack.requests.Add(1)
		i.stack.errors.Add(1)
	}
}

// now returns a copy of the counters.
func (s *stackCounters) now() (c counted) {
	c.errors = s.errors.Load() // before the requests, of which errors are a part
	for i := range s.latency {
		c.latency[i] = s.latency[i].Load()
	}
	c.requests = s.requests.Load()
	return c
}

// since returns the difference to an earlier copy, nil if there is none.
func (c *counted) since(s *stackCounters, before *counted) *api.StackTraffic {
	if c.requests == before.requests && c.errors == before.errors {
		return nil
	}
	t := &api.StackTraffic{Namespace: s.namespace, Stack: s.stack, Requests: c.requests - before.requests, Errors: c.errors - before.errors}
	for i := range c.latency {
		if n := c.latency[i] - before.latency[i]; n > 0 {
			t.Latency = append(t.Latency, api.LatencyCount{Below: latency.Below(i), Count: n})
		}
	}
	return t
}
