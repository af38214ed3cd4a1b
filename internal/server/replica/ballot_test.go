// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"io"
	"testing"

	"github.com/hashicorp/raft"
)

// worn is a transport whose first requests of an election meet broken connections.
type worn struct {
	raft.Transport
	broken int
	asked  int
}

func (w *worn) answer() error {
	if w.asked++; w.asked <= w.broken {
		return io.EOF
	}
	return nil
}

func (w *worn) RequestVote(raft.ServerID, raft.ServerAddress, *raft.RequestVoteRequest, *raft.RequestVoteResponse) error {
	return w.answer()
}

func (w *worn) RequestPreVote(raft.ServerID, raft.ServerAddress, *raft.RequestPreVoteRequest, *raft.RequestPreVoteResponse) error {
	return w.answer()
}

func (w *worn) TimeoutNow(raft.ServerID, raft.ServerAddress, *raft.TimeoutNowRequest, *raft.TimeoutNowResponse) error {
	return w.answer()
}

func TestElectionsOutliveBrokenConnections(t *testing.T) {
	for name, send := range map[string]func(raft.Transport) error{
		"vote":     func(tr raft.Transport) error { return tr.RequestVote("a", "a", nil, nil) },
		"pre-vote": func(tr raft.Transport) error { return tr.(raft.WithPreVote).RequestPreVote("a", "a", nil, nil) },
		"transfer": func(tr raft.Transport) error { return tr.TimeoutNow("a", "a", nil, nil) },
	} {
		w := &worn{broken: idlePerPeer}
		if err := send(hold(w, newPulse(), &contacts{}, &notices{}, nil)); err != nil || w.asked != idlePerPeer+1 {
			t.Errorf("a %s over broken connections: %v after %d requests", name, err, w.asked)
		}
		w = &worn{broken: 100}
		if err := send(hold(w, newPulse(), &contacts{}, &notices{}, nil)); err == nil || w.asked > ballots {
			t.Errorf("a %s to a server that is lost: %v after %d requests", name, err, w.asked)
		}
	}
}

// TestVoteAfterRestart restarts a server, to which a former leader holds broken connections,
// and has that one ask for its vote.
func TestVoteAfterRestart(t *testing.T) {
	f := newFleet(t, 3, Config{})
	f.write("", "before")
	former := f.leader("")
	for id := range f.replicas {
		first, _ := f.replicas[former].contacts.get(raft.ServerID(id))
		eventually(t, "the leader sends heartbeats to "+id, func() bool {
			now, ok := f.replicas[former].contacts.get(raft.ServerID(id))
			return id == former || ok && now.at.After(first.at)
		})
	}
	f.change("transfer", func(r *Replica) error { return r.Transfer(t.Context(), "") })
	eventually(t, "another server leads", func() bool { return f.leader("") != former })
	leader, restarted := f.leader(""), ""
	for id := range f.replicas {
		if id != former && id != leader {
			restarted = id
		}
	}
	if err := f.replicas[restarted].Close(); err != nil {
		t.Fatal(err)
	}
	f.open(restarted)
	f.knows(restarted, "before")
	transport := hold(f.replicas[former].config.Transport, newPulse(), &contacts{}, &notices{}, nil).(raft.WithPreVote)
	args := &raft.RequestPreVoteRequest{
		RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(former), Addr: []byte(f.address(former))}, Term: 1,
	}
	if err := transport.RequestPreVote(raft.ServerID(restarted), raft.ServerAddress(f.address(restarted)), args, &raft.RequestPreVoteResponse{}); err != nil {
		t.Errorf("a server that restarted is not asked: %v", err)
	}
}
