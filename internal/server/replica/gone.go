// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
)

// The end of the leader's process.
//
// Silence proves little: a leader that waits for a processor is silent too. So the election timeout
// is long, compared to how long a process takes to be replaced. But if a process ends, the kernel of its
// machine closes its connections at once, and refuses new ones. A follower whose connection was
// closed therefore connects to the leader. If the kernel refuses, the follower asks the other voters.
// A voter agrees if it is refused as well, and its log is not longer. With a majority, the
// follower stands for election without waiting for the timeout.
//
// The question is a pre-vote for term 0, which no candidate requests. A server that does not know
// this question answers it as an ordinary pre-vote, and does not agree.
//
// The majority prevents elections that only one follower wants: a firewall between two servers
// refuses connections too.

const (
	standInterval = 75 * time.Millisecond  // between followers that may stand, in the order of their ids
	standPause    = 300 * time.Millisecond // for the candidate that a server agreed to
	stands        = 4                      // attempts
	probeTimeout  = 250 * time.Millisecond // of a connection to the leader
	probePause    = 5 * time.Millisecond   // before the second connection; each further pause is twice as long
	probes        = 6
)

// lossy is a transport that reports lost connections.
type lossy interface {
	// Lost receives a value after peers closed connections to this server.
	Lost() <-chan struct{}
	// Probe connects to a peer, and closes the connection.
	Probe(ctx context.Context, id raft.ServerID, target raft.ServerAddress) error
}

// succession begins to answer the questions of other servers, and to look for the end of the leader's
// process.
func (r *Replica) succession() {
	if r.inbox != nil {
		go r.inbox.run()
	}
	if t, ok := r.config.Transport.(lossy); ok {
		r.running.Go(func() { r.followLosses(t) })
	}
}

// followLosses stands for election when the process of the leader has ended.
func (r *Replica) followLosses(t lossy) {
	for {
		select {
		case <-r.stop:
			return
		case <-t.Lost():
		}
		if !r.succeed(t) {
			// The leader lives: a peer that closes connections all the time must not cost more than this.
			select {
			case <-r.stop:
				return
			case <-time.After(probeEvery / 10):
			}
		}
	}
}

// succeed stands for election if the process of the leader has ended and a majority of the voters
// agrees. It reports whether the process has ended.
func (r *Replica) succeed(t lossy) bool {
	address, leader := r.raft.LeaderWithID()
	if leader == "" || r.raft.State() != raft.Follower || !r.hasEnded(t, leader, address) {
		return false
	}
	voters, rank := r.others(leader)
	if rank < 0 || r.disk.isSlow() {
		return true
	}
	r.logger.Info("the process of the leader has ended", "leader", leader, "address", address)
	// Two candidates in one term may both lose. So they stand one after the other, and who
	// agreed to one waits for it.
	pause := time.Duration(rank) * standInterval
	for range stands {
		select {
		case <-r.stop:
			return true
		case <-time.After(pause):
		}
		if _, now := r.raft.LeaderWithID(); now != "" && now != leader || r.raft.State() != raft.Follower {
			return true
		}
		pause = standPause + time.Duration(rank)*standInterval
		if r.inbox.agreedWithin(standPause) || 1+r.agreeing(voters) <= (len(voters)+2)/2 || r.inbox.agreedWithin(standPause) {
			continue
		}
		r.standNow()
		return true
	}
	return true
}

// hasEnded reports whether the process at the address of a server has ended. The kernel closes its
// connections one after the other, and refuses new ones a little later.
func (r *Replica) hasEnded(t lossy, id raft.ServerID, address raft.ServerAddress) bool {
	pause := probePause
	for range probes {
		ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
		err := t.Probe(ctx, id, address)
		cancel()
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			return true
		case errors.Is(err, context.DeadlineExceeded):
			return false // it hangs, or is cut off
		}
		select {
		case <-r.stop:
			return false
		case <-time.After(pause):
		}
		pause *= 2
	}
	return false
}

// others returns the voters except for this server and the leader, and the position of this server among the
// voters that may succeed the leader; -1 if it does not vote.
func (r *Replica) others(leader raft.ServerID) (voters []raft.Server, rank int) {
	rank = -1
	var ids []string
	for _, s := range r.raft.GetConfiguration().Configuration().Servers {
		if s.Suffrage != raft.Voter || s.ID == leader {
			continue
		}
		ids = append(ids, string(s.ID))
		if string(s.ID) != r.ServerID() {
			voters = append(voters, s)
		}
	}
	slices.Sort(ids)
	return voters, slices.Index(ids, r.ServerID())
}
