// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"time"

	"github.com/hashicorp/raft"
)

// A follower keeps idle connections to its peers from the time when it led. If a peer
// restarted since then, all of them are broken, and it notices only when it stands for
// election. Raft counts a failed request as a lost vote and waits for the next election: a
// second for two broken connections. So a request of an election is repeated on the next
// connection. The requests are idempotent: a server that has voted repeats its answer.
const (
	ballots     = idlePerPeer + 1
	quickFailed = 20 * time.Millisecond // a connection that fails later was not broken before
)

// ask sends a request of an election.
func ask(send func() error) (err error) {
	for range ballots {
		began := time.Now()
		if err = send(); err == nil || time.Since(began) > quickFailed {
			return err
		}
	}
	return err
}

// RequestVote implements raft.Transport.
func (t *held) RequestVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	return ask(func() error { return t.Transport.RequestVote(id, target, args, resp) })
}

// TimeoutNow implements raft.Transport.
func (t *held) TimeoutNow(id raft.ServerID, target raft.ServerAddress, args *raft.TimeoutNowRequest, resp *raft.TimeoutNowResponse) error {
	return ask(func() error { return t.Transport.TimeoutNow(id, target, args, resp) })
}

// RequestPreVote implements raft.WithPreVote.
func (v voting) RequestPreVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	return ask(func() error { return v.WithPreVote.RequestPreVote(id, target, args, resp) })
}
