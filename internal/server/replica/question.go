// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// questionTerm is the term of a pre-vote that is the question.
const questionTerm = 0

// questionTimeout bounds the wait for the answers of the other voters.
const questionTimeout = 500 * time.Millisecond

// An inbox passes the requests of other servers on to raft, and answers the question whether the
// process of the leader has ended.
type inbox struct {
	received <-chan raft.RPC
	passed   chan raft.RPC
	end      chan struct{}
	busy     atomic.Bool
	agreed   atomic.Pointer[time.Time] // when this server agreed to the last question; nil: never
	agrees   func(*raft.RequestPreVoteRequest) bool
}

func newInbox(received <-chan raft.RPC, agrees func(*raft.RequestPreVoteRequest) bool) *inbox {
	return &inbox{received: received, passed: make(chan raft.RPC), end: make(chan struct{}), agrees: agrees}
}

// run passes requests on until the end. It begins when raft has started, because agrees needs raft.
func (b *inbox) run() {
	for {
		var rpc raft.RPC
		select {
		case rpc = <-b.received:
		case <-b.end:
			return
		}
		if q, ok := rpc.Command.(*raft.RequestPreVoteRequest); ok && q.Term == questionTerm {
			b.answer(rpc, q)
			continue
		}
		select {
		case b.passed <- rpc:
		case <-b.end:
			return
		}
	}
}

// answer answers a question without delaying raft. One at a time is enough: the others get a refusal.
func (b *inbox) answer(rpc raft.RPC, q *raft.RequestPreVoteRequest) {
	resp := &raft.RequestPreVoteResponse{RPCHeader: header("", nil)}
	if !b.busy.CompareAndSwap(false, true) {
		rpc.Respond(resp, nil)
		return
	}
	go func() {
		defer b.busy.Store(false)
		if b.agrees(q) {
			now := time.Now()
			b.agreed.Store(&now)
			resp.Granted = true
		}
		rpc.Respond(resp, nil)
	}()
}

// agreedWithin reports whether this server agreed to a question not longer ago than that.
func (b *inbox) agreedWithin(d time.Duration) bool {
	at := b.agreed.Load()
	return at != nil && time.Since(*at) < d
}

// Consumer implements raft.Transport.
func (t *held) Consumer() <-chan raft.RPC { return t.inbox.passed }

func header(id raft.ServerID, address []byte) raft.RPCHeader {
	return raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(id), Addr: address}
}

// agreeing returns the number of voters that agree that the process of the leader has ended.
func (r *Replica) agreeing(voters []raft.Server) int {
	asks, ok := r.transport.(raft.WithPreVote)
	if !ok {
		return 0
	}
	id := raft.ServerID(r.ServerID())
	index, term := r.lastEntry()
	answers := make(chan bool, len(voters))
	for _, v := range voters {
		go func() { // ends with the transport at the latest
			q := &raft.RequestPreVoteRequest{
				RPCHeader: header(id, r.transport.EncodePeer(id, r.transport.LocalAddr())),
				Term:      questionTerm, LastLogIndex: index, LastLogTerm: term,
			}
			var resp raft.RequestPreVoteResponse
			err := asks.RequestPreVote(v.ID, v.Address, q, &resp)
			answers <- err == nil && resp.Granted
		}()
	}
	timeout := time.After(questionTimeout)
	granted := 0
	for range voters {
		select {
		case yes := <-answers:
			if yes {
				granted++
			}
		case <-timeout:
			return granted
		case <-r.stop:
			return 0
		}
	}
	return granted
}

// agrees reports whether this server would vote for the sender of a question, because the
// process of its leader has ended, or it knows no leader.
func (r *Replica) agrees(t lossy, q *raft.RequestPreVoteRequest) bool {
	address, leader := r.raft.LeaderWithID()
	if string(leader) == r.ServerID() || len(q.ID) > 0 && string(q.ID) == string(leader) {
		return false
	}
	if index, term := r.lastEntry(); term > q.LastLogTerm || term == q.LastLogTerm && index > q.LastLogIndex {
		return false
	}
	return leader == "" || r.hasEnded(t, leader, address)
}

// lastEntry returns the index and the term of the last entry of the log.
func (r *Replica) lastEntry() (index, term uint64) {
	stats := r.raft.Stats()
	number := func(name string) uint64 {
		n, _ := strconv.ParseUint(stats[name], 10, 64)
		return n
	}
	if index = number("last_log_index"); index >= number("last_snapshot_index") {
		return index, number("last_log_term")
	}
	return number("last_snapshot_index"), number("last_snapshot_term")
}

// standNow makes raft stand for election, as at a planned transfer of leadership.
func (r *Replica) standNow() {
	answer := make(chan raft.RPCResponse, 1)
	id := raft.ServerID(r.ServerID())
	request := &raft.TimeoutNowRequest{RPCHeader: header(id, r.transport.EncodePeer(id, r.transport.LocalAddr()))}
	select {
	case r.inbox.passed <- raft.RPC{Command: request, RespChan: answer}:
	case <-r.stop:
	}
}
