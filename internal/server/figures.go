// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"sync/atomic"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/latency"
	"github.com/reeve-run/reeve/internal/server/broker"
	"github.com/reeve-run/reeve/internal/server/replica"
	"github.com/reeve-run/reeve/internal/server/worker"
)

// meters measures what happens only while this server leads. They outlive a term, so that
// their counters never decrease.
type meters struct {
	refused  atomic.Uint64
	computed atomic.Uint64 // evaluations, on any server
	checks   latency.Histogram
	timings  worker.Timings
}

// Figures are a server's measurements. Those of a scheduler are zero on a server that does not
// lead, and its counters keep the numbers of the terms that the server led.
type Figures struct {
	Leads    bool
	Degraded bool
	Log      replica.Figures

	Broker    broker.Stats
	Queued    int    // submissions that wait for the applier
	Refused   uint64 // allocations and placements
	Computed  uint64 // evaluations that the workers of this server have processed, also without leading
	Checks    latency.Summary
	Submits   latency.Summary
	Waits     latency.Summary
	Schedules map[string]latency.Summary // by type of job

	Backup api.SnapshotSchedule // scheduled snapshots

	Healthy          bool // reports whether all servers are healthy; known to the leader alone
	FailureTolerance int
}

// Figures returns the server's measurements.
func (s *Server) Figures() Figures {
	f := Figures{
		Refused: s.meters.refused.Load(), Computed: s.meters.computed.Load(), Checks: s.meters.checks.Summary(),
		Submits: s.meters.timings.Submit.Summary(), Waits: s.meters.timings.Wait.Summary(),
		Backup:    *s.LastSnapshot(),
		Schedules: make(map[string]latency.Summary, len(worker.JobTypes)),
	}
	for i, name := range worker.JobTypes {
		f.Schedules[name] = s.meters.timings.Schedule[i].Summary()
	}
	why, _ := s.Degraded()
	f.Degraded = why != ""
	if s.replica != nil {
		f.Log = s.replica.Figures()
	} else {
		f.Log.AppliedIndex, f.Log.LastIndex = s.store.Index(), s.store.Index()
	}
	t := s.term.Load()
	if t == nil {
		return f
	}
	f.Leads, f.Healthy, f.FailureTolerance = true, true, s.FailureTolerance()
	f.Broker, f.Queued = t.broker.Stats(), t.applier.Queued()
	for _, m := range s.Servers() {
		f.Healthy = f.Healthy && (m.Healthy || m.Status == api.ServerLeft)
	}
	return f
}
