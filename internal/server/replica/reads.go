// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"context"
	"time"

	"github.com/hashicorp/raft"
)

// Linearizable reads.
//
// A read must see every write that was acknowledged before the read began. Only the leader knows
// these writes, and a server that was stopped or cut off believes that it leads although
// another server does. So the leader takes the index of the last committed entry, then asks a majority
// whether it still leads, and any server whose state has reached that index may answer the read. The
// index of the leader's state would not do: a follower may have applied an entry, and
// shown it to a client, that the leader itself has not applied yet.
//
// Raft's own question, VerifyLeader, is not sufficient for this. It counts answers to heartbeats that
// were sent before the question: such an answer can lie in a socket's buffer while the process is stopped. It also
// counts answers of servers that do not vote. So the question only makes raft send heartbeats, and
// contacts decides: each request has a stamp, and only voters that accepted a request of
// this term with a stamp of this confirmation count.

// ReadIndex returns the index in the log up to which a server must have applied it for a read to see
// every write acknowledged before the call. The leader has applied it already. ReadIndex
// returns an error unless a majority confirms that this server leads. If no other server votes, then
// none has newer writes, even while a full disk prevents this server from leading. Concurrent
// calls share one confirmation.
func (r *Replica) ReadIndex(ctx context.Context) (uint64, error) {
	alone, only := r.votesAlone()
	switch {
	case only || alone && !r.leading.Load():
		return r.config.Store.LogIndex(), nil
	case !r.leading.Load():
		return 0, r.notLeading()
	case alone:
		return r.applied(ctx, r.raft.CommitIndex())
	}
	return r.reads.Do(ctx)
}

// votesAlone reports whether this server is the only voter, and whether it is the only server.
func (r *Replica) votesAlone() (alone, only bool) {
	servers := r.raft.GetConfiguration().Configuration().Servers
	for _, s := range servers {
		switch {
		case s.Suffrage != raft.Voter:
		case string(s.ID) != r.ServerID():
			return false, false
		default:
			alone = true
		}
	}
	return alone, alone && len(servers) == 1
}

// confirm returns the index of the state, with every entry committed before the call, once a
// majority of voters has confirmed that this server leads. Each round makes raft send heartbeats at once. A round suffices, unless raft
// counted an answer that does not count here.
func (r *Replica) confirm(ctx context.Context) (uint64, error) {
	term := r.term.Load()
	committed := r.raft.CommitIndex()
	since := r.contacts.clock.Add(1)
	for r.leading.Load() && r.term.Load() == term {
		round := r.raft.VerifyLeader()
		err := r.await(ctx, func() error {
			if err := round.Error(); err != nil {
				return r.explain(err)
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		if r.isAccepted(term, since) {
			return r.applied(ctx, committed)
		}
	}
	return 0, r.notLeading()
}

// applied returns the index of the state once it contains the log up to an index.
func (r *Replica) applied(ctx context.Context, index uint64) (uint64, error) {
	if err := r.machine.arrived.wait(ctx, index); err != nil {
		if failure := r.machine.failure.Load(); failure != nil {
			return 0, *failure
		}
		return 0, err
	}
	return r.config.Store.LogIndex(), nil
}

// isAccepted reports whether a majority of the voters accepted requests of a term since a
// stamp.
func (r *Replica) isAccepted(term, since uint64) bool {
	voters, accepted := 0, 0
	for _, s := range r.raft.GetConfiguration().Configuration().Servers {
		if s.Suffrage != raft.Voter {
			continue
		}
		voters++
		if string(s.ID) == r.ServerID() || r.contacts.hasAccepted(s.ID, term, since) {
			accepted++
		}
	}
	return accepted > voters/2
}

// LastContact returns the time since this server last heard of a leader; 0 if it leads.
func (r *Replica) LastContact() time.Duration {
	if r.raft.State() == raft.Leader {
		return 0
	}
	last := r.raft.LastContact()
	if last.IsZero() {
		last = r.opened
	}
	return time.Since(last)
}
