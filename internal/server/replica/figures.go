// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/latency"
)

// Figures are the measurements of a replica since it started. Reading them does not touch the disk.
type Figures struct {
	Entries      uint64 // written as the leader
	Proposals    uint64 // that they hold
	EntryBytes   uint64 // of all entries
	LargestEntry uint64 // bytes
	Snapshots    uint64 // taken
	Elections    uint64 // in which this server stood
	Leaderships  uint64 // that this server won
	AppliedIndex uint64
	LastIndex    uint64 // of the log
	Snapshot     time.Time
	LastContact  time.Duration // since the leader's last message; 0 on the leader, and before the first message

	Syncs    latency.Summary // of the log
	Commits  latency.Summary // from an entry's proposal to its application
	Contacts latency.Summary // between two answers of a follower to this leader
}

// Figures returns the replica's measurements.
func (r *Replica) Figures() Figures {
	f := Figures{
		Entries: r.counters.entries.Load(), Proposals: r.counters.proposals.Load(),
		EntryBytes: r.counters.entryBytes.Load(), LargestEntry: r.counters.largestEntry.Load(),
		Snapshots: r.counters.snapshots.Load(), Elections: r.counters.elections.Load(), Leaderships: r.reign.Load(),
		AppliedIndex: r.raft.AppliedIndex(), LastIndex: r.raft.LastIndex(), Snapshot: r.images.Written(),
		Syncs: r.disk.syncs.Summary(), Commits: r.counters.commits.Summary(), Contacts: r.contacts.gaps.Summary(),
	}
	if last := r.raft.LastContact(); !r.IsLeader() && !last.IsZero() {
		f.LastContact = time.Since(last)
	}
	return f
}

// countElections counts the elections of this server from now on. The filter of an observer runs
// within raft, so it misses none; nothing is sent to the observer.
func (r *Replica) countElections() {
	r.raft.RegisterObserver(raft.NewObserver(nil, false, func(o *raft.Observation) bool {
		if o.Data == raft.Candidate {
			r.counters.elections.Add(1)
		}
		return false
	}))
}
