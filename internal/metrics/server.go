// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/server/worker"
)

// server writes the measurements of a server.
func (e *emitter) server(f server.Figures, now time.Time) {
	e.gauge("nomad.nomad.broker.total_ready", float64(f.Broker.Ready))
	e.gauge("nomad.nomad.broker.total_unacked", float64(f.Broker.Out))
	e.gauge("nomad.nomad.broker.total_pending", float64(f.Broker.Pending))
	e.gauge("nomad.nomad.broker.total_waiting", float64(f.Broker.Delayed))
	e.gauge("reeve.broker.oldest_seconds", age(f.Broker.Oldest, now))
	e.gauge("nomad.nomad.blocked_evals.total_blocked", float64(f.Broker.Blocked))
	e.gauge("nomad.nomad.blocked_evals.total_escaped", float64(f.Broker.Escaped))
	e.gauge("nomad.nomad.blocked_evals.total_quota_limit", float64(f.Broker.Limited))
	e.gauge("nomad.nomad.blocked_evals.cpu", float64(f.Broker.Lacking.CPU))
	e.gauge("nomad.nomad.blocked_evals.memory", float64(f.Broker.Lacking.MemoryMB))

	e.summary("nomad.nomad.worker.wait_for_index", &f.Waits, time.Millisecond)
	for _, jobType := range worker.JobTypes {
		took := f.Schedules[jobType]
		e.summary("nomad.nomad.worker.invoke_scheduler_"+jobType, &took, time.Millisecond)
	}
	e.counter("reeve.worker.evaluations_total", f.Computed)
	e.gauge("nomad.nomad.plan.queue_depth", float64(f.Queued))
	e.summary("nomad.nomad.plan.evaluate", &f.Checks, time.Millisecond)
	e.summary("nomad.nomad.plan.submit", &f.Submits, time.Millisecond)
	e.counter("nomad.nomad.plan.node_rejected", f.Refused)
	e.counter("reeve.applier.refusals_total", f.Refused)

	e.flag("reeve.leader", f.Leads)
	e.flag("reeve.degraded", f.Degraded)
	e.flag("nomad.nomad.autopilot.healthy", f.Healthy)
	e.gauge("nomad.nomad.autopilot.failure_tolerance", float64(f.FailureTolerance))
	lag := uint64(0)
	if f.Leads && f.Log.AppliedIndex > f.Broker.Index {
		lag = f.Log.AppliedIndex - f.Broker.Index
	}
	e.gauge("reeve.feed.lag_entries", float64(lag))
	e.log(&f, now)
}

// log writes the measurements of the replicated log.
func (e *emitter) log(f *server.Figures, now time.Time) {
	l := &f.Log
	e.counter("nomad.raft.apply", l.Proposals)
	e.counter("nomad.raft.commitNumLogs", l.Entries)
	e.summary("nomad.raft.commitTime", &l.Commits, time.Millisecond)
	e.gauge("nomad.raft.appliedIndex", float64(l.AppliedIndex))
	e.summary("nomad.raft.leader.lastContact", &l.Contacts, time.Millisecond)
	e.counter("nomad.raft.state.leader", l.Leaderships)
	e.counter("nomad.raft.state.candidate", l.Elections)
	e.counter("reeve.leaderships_total", l.Leaderships)
	e.gauge("reeve.leader.last_contact_seconds", l.LastContact.Seconds())
	e.counter("reeve.log.entry_bytes_total", l.EntryBytes)
	e.gauge("reeve.log.entry_bytes_max", float64(l.LargestEntry))
	e.summary("reeve.log.sync_seconds", &l.Syncs, time.Second)
	unapplied := uint64(0)
	if l.LastIndex > l.AppliedIndex {
		unapplied = l.LastIndex - l.AppliedIndex
	}
	e.gauge("reeve.log.unapplied_entries", float64(unapplied))
	e.counter("reeve.snapshots_total", l.Snapshots)
	e.gauge("reeve.snapshot.age_seconds", age(l.Snapshot, now))
	saved := time.Time{}
	if f.Backup.Last != nil {
		saved = f.Backup.Last.Time
	}
	e.gauge("reeve.scheduled_snapshot.age_seconds", age(saved, now))
	e.flag("reeve.scheduled_snapshot.failing", f.Backup.Failure != "")
}

// age returns the seconds since a time, 0 for the zero time and for the future.
func age(t, now time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return max(0, now.Sub(t).Seconds())
}
