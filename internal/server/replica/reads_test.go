// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/state"
)

// late is a transport that delivers the answers to heartbeats only when the test says so.
type late struct {
	*raft.InmemTransport
	holds   atomic.Bool
	arrived chan struct{} // receives a value when an answer has arrived that is held
	release chan struct{} // closed: the answers are delivered
}

func (l *late) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	err := l.InmemTransport.AppendEntries(id, target, args, resp)
	if err == nil && l.holds.Load() {
		l.arrived <- struct{}{}
		<-l.release
	}
	return err
}

// TestAnswersToEarlierHeartbeatsConfirmNothing holds the answers of all followers back,
// begins a read, and cuts the leader off before it delivers them: another leader may have been
// elected between these answers and the read.
func TestAnswersToEarlierHeartbeatsConfirmNothing(t *testing.T) {
	var servers []raft.Server
	transports := map[raft.ServerID]*late{}
	for i := range 3 {
		id := raft.ServerID(fmt.Sprint("server-", i))
		_, inner := raft.NewInmemTransportWithTimeout(raft.ServerAddress(id), 50*time.Millisecond)
		servers = append(servers, raft.Server{ID: id, Address: raft.ServerAddress(id)})
		transports[id] = &late{InmemTransport: inner, arrived: make(chan struct{}, 16), release: make(chan struct{})}
	}
	for a, from := range transports {
		for b, to := range transports {
			if a != b {
				from.Connect(raft.ServerAddress(b), to.InmemTransport)
			}
		}
	}
	running := map[raft.ServerID]*Replica{}
	var releases sync.Once
	for id, transport := range transports {
		r, err := Open(Config{Dir: t.TempDir(), Store: state.New(), ServerID: string(id), Transport: transport, Servers: servers, ElectionTimeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		running[id] = r
		t.Cleanup(func() {
			transport.DisconnectAll()
			r.Close()
		})
	}
	var leader *Replica
	eventually(t, "a server leads", func() bool {
		for _, r := range running {
			if r.IsLeader() {
				leader = r
			}
		}
		return leader != nil
	})
	index, err := leader.Propose(t.Context(), register("before"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := leader.ReadIndex(t.Context()); err != nil || got < index {
		t.Fatalf("the read index is %d, %v after a write at %d", got, err, index)
	}

	transport := transports[raft.ServerID(leader.ServerID())]
	t.Cleanup(func() { releases.Do(func() { close(transport.release) }) })
	transport.holds.Store(true)
	<-transport.arrived
	<-transport.arrived       // of both followers
	transport.DisconnectAll() // later requests, and entries, get no answer
	for id, other := range transports {
		if string(id) != leader.ServerID() {
			other.Disconnect(raft.ServerAddress(leader.ServerID()))
		}
	}
	confirmed := make(chan error, 1)
	go func() {
		_, err := leader.ReadIndex(t.Context())
		confirmed <- err
	}()
	eventually(t, "the question is asked", func() bool { return leader.contacts.clock.Load() >= 2 || len(confirmed) > 0 })
	transport.holds.Store(false)
	releases.Do(func() { close(transport.release) })
	if err := <-confirmed; err == nil {
		t.Error("answers to heartbeats that were sent before the read confirmed it")
	}
}

// TestOnlyVotersOfTheTermConfirm checks the votes of a confirmation one by one.
func TestOnlyVotersOfTheTermConfirm(t *testing.T) {
	var c contacts
	ok := func(term uint64) *raft.AppendEntriesResponse { return &raft.AppendEntriesResponse{Term: term} }
	before := c.stamp()
	since := c.clock.Add(1)
	after := c.stamp()
	c.note("early", 3, before, ok(3))
	c.note("newer", 3, after, ok(4))
	c.note("older", 2, after, ok(2))
	c.note("good", 3, after, ok(3))
	c.note("good", 3, before, ok(3)) // an answer that was overtaken
	for id, want := range map[raft.ServerID]bool{"early": false, "newer": false, "older": false, "silent": false, "good": true} {
		if got := c.hasAccepted(id, 3, since); got != want {
			t.Errorf("server %q confirms the read: %v, want %v", id, got, want)
		}
	}
}

// TestANonvoterConfirmsNothing cuts a leader off from the other voter, but not from a server that does
// not vote.
func TestANonvoterConfirmsNothing(t *testing.T) {
	f := newFleet(t, 3, Config{})
	f.write("", "before")
	leader := f.replicas[f.leader("")]
	var others []string
	for id := range f.replicas {
		if id != leader.ServerID() {
			others = append(others, id)
		}
	}
	if err := leader.raft.DemoteVoter(raft.ServerID(others[0]), 0, 0).Error(); err != nil {
		t.Fatal(err)
	}
	if _, err := leader.ReadIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.link(leader.ServerID(), others[1]).pause()
	f.link(others[1], leader.ServerID()).pause()
	if _, err := leader.ReadIndex(t.Context()); err == nil {
		t.Error("a server that does not vote confirmed a read")
	}
}
