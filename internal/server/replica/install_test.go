// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/state"
)

// follower is a replica that follows a leader whose part the test plays.
type follower struct {
	*testing.T
	config  Config
	replica *Replica
	leader  *raft.InmemTransport
	header  raft.RPCHeader
}

func newFollower(t *testing.T) *follower {
	address, leader := raft.NewInmemTransport("leader")
	f := &follower{T: t, leader: leader, header: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte("leader"), Addr: leader.EncodePeer("leader", address)}}
	f.config = Config{Dir: t.TempDir(), ServerID: "follower", TrailingEntries: 4, ElectionTimeout: time.Hour, Servers: []raft.Server{
		{ID: "follower", Address: "follower"}, {ID: "leader", Address: "leader"}, {ID: "third", Address: "third"},
	}}
	f.run()
	t.Cleanup(func() { f.replica.Close() })
	return f
}

// run starts the replica, again.
func (f *follower) run() {
	f.Helper()
	_, transport := raft.NewInmemTransport("follower")
	f.config.Store, f.config.Transport = state.New(), transport
	f.leader.Connect("follower", transport)
	var err error
	if f.replica, err = Open(f.config); err != nil {
		f.Fatal(err)
	}
}

// entry is the one that registers a job, of a term.
func (f *follower) entry(index, term uint64) *raft.Log {
	return &raft.Log{
		Index: index, Term: term, Type: raft.LogCommand,
		Data: state.EncodeCommands([]state.Command{register(fmt.Sprintf("job-%d-%d", index, term))}),
	}
}

// append sends entries of one term, as the leader of a term.
func (f *follower) append(leads, previous, previousTerm, to, term, commit uint64) bool {
	f.Helper()
	req := &raft.AppendEntriesRequest{RPCHeader: f.header, Term: leads, PrevLogEntry: previous, PrevLogTerm: previousTerm, LeaderCommitIndex: commit}
	for i := previous + 1; i <= to; i++ {
		req.Entries = append(req.Entries, f.entry(i, term))
	}
	var res raft.AppendEntriesResponse
	if err := f.leader.AppendEntries("follower", "follower", req, &res); err != nil {
		f.Fatal(err)
	}
	return res.Success
}

// install sends a snapshot.
func (f *follower) install(leads, index, term uint64) {
	f.Helper()
	s := state.New()
	for i := uint64(2); i <= index; i++ {
		if errs := s.Apply(i, []state.Command{register(fmt.Sprintf("job-%d-%d", i, term))}); errs[0] != nil {
			f.Fatal(errs)
		}
	}
	var b bytes.Buffer
	if _, err := s.Snapshot().WriteTo(&b); err != nil {
		f.Fatal(err)
	}
	req := &raft.InstallSnapshotRequest{
		RPCHeader: f.header, SnapshotVersion: raft.SnapshotVersionMax, Term: leads, LastLogIndex: index, LastLogTerm: term, Size: int64(b.Len()),
		Configuration: raft.EncodeConfiguration(raft.Configuration{Servers: f.config.Servers}), ConfigurationIndex: 1,
	}
	var res raft.InstallSnapshotResponse
	if err := f.leader.InstallSnapshot("follower", "follower", req, &res, &b); err != nil || !res.Success {
		f.Fatal(res, err)
	}
}

// TestSnapshotThatIsOlderThanTheLog has a follower acknowledge entries, and then
// take a snapshot that does not have them yet, as when its answer was late: what
// was acknowledged stays, over restarts too, and it follows on.
func TestSnapshotThatIsOlderThanTheLog(t *testing.T) {
	f := newFollower(t)
	f.install(5, 65, 5) // the log begins behind it
	if !f.append(5, 65, 5, 67, 5, 65) {
		t.Fatal("entries behind the snapshot are refused")
	}
	for _, restart := range []bool{false, true} {
		f.install(5, 65, 5)
		if restart {
			f.replica.Close()
			f.run()
		}
		if last, _ := f.replica.log.LastIndex(); last != 67 {
			t.Errorf("the log ends with entry %d; entry 67 was acknowledged", last)
		}
		for _, previous := range []uint64{67, 66, 65} {
			if !f.append(5, previous, 5, 67, 5, 65) {
				t.Errorf("restarted: %t: entries behind %d are refused", restart, previous)
			}
		}
	}
	if !f.append(5, 67, 5, 70, 5, 70) {
		t.Error("the next entries are refused")
	}
	if err := f.config.Store.Wait(t.Context(), 70); err != nil || !has(f.config.Store, "job-70-5") || !has(f.config.Store, "job-12-5") {
		t.Errorf("it is at %d, %v", f.config.Store.Index(), err)
	}
}

// TestSnapshotOfAnotherHistory has a follower with entries that never were
// committed take a snapshot of what was.
func TestSnapshotOfAnotherHistory(t *testing.T) {
	f := newFollower(t)
	if !f.append(5, 1, 1, 80, 5, 1) {
		t.Fatal("its entries are refused")
	}
	f.install(7, 65, 4)
	if f.append(7, 64, 4, 66, 4, 65) {
		t.Error("it agrees to an entry that it does not have")
	}
	if !f.append(7, 65, 4, 70, 7, 70) {
		t.Fatal("entries behind the snapshot are refused")
	}
	for _, restart := range []bool{false, true} {
		if restart {
			f.replica.Close()
			f.run()
			if !f.append(7, 70, 7, 71, 7, 71) {
				t.Fatal("after a restart the next entry is refused")
			}
		}
		if err := f.config.Store.Wait(t.Context(), 70); err != nil || !has(f.config.Store, "job-70-7") || has(f.config.Store, "job-12-5") || has(f.config.Store, "job-70-5") {
			t.Errorf("restarted: %t: it is at %d, %v", restart, f.config.Store.Index(), err)
		}
		if first, _ := f.replica.log.FirstIndex(); first != 66 {
			t.Errorf("the log begins with entry %d: those before are of another history", first)
		}
	}
}
