// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/hashicorp/raft"
)

// IsLeader reports whether this server leads and has applied all earlier entries, so that
// it accepts writes.
func (r *Replica) IsLeader() bool { return r.leading.Load() }

// LeaderCh receives the number of a leadership when this server leads and has applied all
// earlier entries, and 0 when it stops leading. Each leadership has another number. A slow
// reader receives only the newest value; a number that differs from the previous one tells
// it that another server may have led in between. Close closes the channel.
func (r *Replica) LeaderCh() <-chan uint64 { return r.leaderCh }

// Reign returns the number of this server's leadership, as LeaderCh does; 0 if it does not
// lead.
func (r *Replica) Reign() uint64 {
	number := r.reign.Load()
	if !r.leading.Load() {
		return 0
	}
	return number
}

// followLeadership converts raft's leadership to that of the replica, which begins only
// when all earlier entries are applied.
func (r *Replica) followLeadership() {
	defer r.running.Done()
	defer close(r.leaderCh)
	for {
		select {
		case <-r.stop:
			r.leading.Store(false)
			return
		case elected := <-r.notify:
			if elected {
				r.contacts.clear()
				now := time.Now()
				r.electedAt.Store(&now)
			}
			term := r.raft.CurrentTerm()
			ready := elected && r.barrier() == nil && r.machine.failure.Load() == nil && r.raft.CurrentTerm() == term
			if ready == r.leading.Load() {
				continue
			}
			if !ready {
				r.leading.Store(false)
				r.tell(0)
				continue
			}
			number := r.reign.Add(1)
			r.term.Store(term)
			r.leading.Store(true)
			r.tell(number)
			r.running.Go(r.correctAddress)
		}
	}
}

func (r *Replica) tell(reign uint64) {
	select {
	case <-r.leaderCh:
	default:
	}
	r.leaderCh <- reign
}

// Barrier returns when this server has applied all entries that any server acknowledged
// before the call.
func (r *Replica) Barrier(ctx context.Context) error {
	return r.await(ctx, func() error {
		if err := r.barrier(); err != nil {
			return r.explain(err)
		}
		return nil
	})
}

// barrier returns when the store has applied all earlier entries.
func (r *Replica) barrier() error {
	future := r.raft.Barrier(0)
	if err := future.Error(); err != nil {
		return err
	}
	if passed, ok := future.(interface{ Index() uint64 }); ok {
		r.machine.arrived.raise(passed.Index())
	}
	return nil
}

// Leader returns the id of the leader; "" if none is known.
func (r *Replica) Leader() string {
	_, id := r.raft.LeaderWithID()
	return string(id)
}

// LeaderAddr returns the id and the address of the leader; "" if none is known.
func (r *Replica) LeaderAddr() (id, address string) {
	a, leader := r.raft.LeaderWithID()
	return string(leader), string(a)
}

// AwaitOther returns when this server knows that another one leads, or with the error of
// ctx.
func (r *Replica) AwaitOther(ctx context.Context) error {
	news := make(chan raft.Observation, 8)
	o := raft.NewObserver(news, false, func(o *raft.Observation) bool {
		_, ok := o.Data.(raft.LeaderObservation)
		return ok
	})
	r.raft.RegisterObserver(o)
	defer r.raft.DeregisterObserver(o)
	for {
		if id := r.Leader(); id != "" && id != r.ServerID() {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Troubled returns a channel that is closed when a cause prevents, or prevented, writes to
// this server. Degraded returns the cause.
func (r *Replica) Troubled() <-chan struct{} { return r.disk.troubled }

// Degraded returns a sentence about the cause why this server is degraded, "" if it is
// not; and reports whether the server accepts writes nevertheless.
func (r *Replica) Degraded() (why string, writable bool) {
	if failure := r.log.Failure(); failure != nil {
		return fmt.Sprintf("the log cannot be written: %v; reads are answered, changes are refused", failure), false
	}
	if err := r.machine.failure.Load(); err != nil {
		return fmt.Sprintf("the state cannot be kept up to date: %v; reads return the last good state, changes are rejected", *err), false
	}
	if r.IsOutside() {
		return fmt.Sprintf("this server (%s) was removed from the cluster: it answers reads of its last state, and refuses changes; "+
			"stop it, or, to add it again, start it with an empty data directory and a join token", r.ServerID()), false
	}
	if r.disk.isSlow() {
		return fmt.Sprintf("the disk of %s is slow: a sync took longer than %s (the last one %s); changes wait for it",
			r.config.Dir, slowSync, time.Duration(r.disk.newest.Load()).Round(time.Millisecond)), true
	}
	return "", true
}

// Stats holds the replica's statistics for operators.
type Stats struct {
	ServerID      string
	IsLeader      bool
	Leader        string
	Term          uint64
	LastIndex     uint64 // of the log
	AppliedIndex  uint64
	SnapshotIndex uint64
	Entries       uint64 // written since the start
	Proposals     uint64 // that they hold
	Snapshots     uint64 // taken since the start
	Failure       string // why the log cannot be written; "" if it can
	Degraded      string // why the server does less than it should; "" if it does not
	LastSync      time.Duration
}

// Stats returns the replica's statistics.
func (r *Replica) Stats() Stats {
	s := Stats{
		ServerID: r.ServerID(), IsLeader: r.IsLeader(), Leader: r.Leader(),
		Term: r.raft.CurrentTerm(), LastIndex: r.raft.LastIndex(),
		AppliedIndex: r.raft.AppliedIndex(), SnapshotIndex: r.snapshotIndex(),
		Entries: r.counters.entries.Load(), Proposals: r.counters.proposals.Load(),
		Snapshots: r.counters.snapshots.Load(),
	}
	if err := r.log.Failure(); err != nil {
		s.Failure = err.Error()
	}
	s.Degraded, _ = r.Degraded()
	s.LastSync = time.Duration(r.disk.newest.Load())
	return s
}

func (r *Replica) snapshotIndex() uint64 {
	index, _ := strconv.ParseUint(r.raft.Stats()["last_snapshot_index"], 10, 64)
	return index
}
