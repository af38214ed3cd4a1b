// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/state"
)

// plain is a transport that also holds the answers to entries back.
type plain struct{ *late }

// AppendEntriesPipeline has raft use AppendEntries for all requests.
func (plain) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

// trio starts three servers on transports that can hold answers back, and returns the leader, its
// transport, and a function that cuts the leader off or connects it again.
func trio(t *testing.T) (all map[string]*Replica, leader *Replica, transport *late, connect func(bool)) {
	t.Helper()
	var servers []raft.Server
	transports := map[string]*late{}
	for i := range 3 {
		id := fmt.Sprint("server-", i)
		_, inner := raft.NewInmemTransportWithTimeout(raft.ServerAddress(id), 200*time.Millisecond)
		servers = append(servers, raft.Server{ID: raft.ServerID(id), Address: raft.ServerAddress(id)})
		transports[id] = &late{InmemTransport: inner, arrived: make(chan struct{}, 1024), release: make(chan struct{})}
	}
	join := func(a, b string) { transports[a].Connect(raft.ServerAddress(b), transports[b].InmemTransport) }
	all = map[string]*Replica{}
	for id, own := range transports {
		for other := range transports {
			if other != id {
				join(id, other)
			}
		}
		r, err := Open(Config{Dir: t.TempDir(), Store: state.New(), ServerID: id, Transport: plain{own}, Servers: servers, ElectionTimeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		all[id] = r
		t.Cleanup(func() {
			own.DisconnectAll()
			r.Close()
		})
	}
	eventually(t, "a server leads", func() bool {
		for _, r := range all {
			if r.IsLeader() {
				leader = r
			}
		}
		return leader != nil
	})
	if _, err := leader.Propose(t.Context(), register("before")); err != nil {
		t.Fatal(err)
	}
	own := leader.ServerID()
	return all, leader, transports[own], func(on bool) {
		for id := range transports {
			switch {
			case id == own:
			case on:
				join(own, id)
				join(id, own)
			default:
				transports[own].Disconnect(raft.ServerAddress(id))
				transports[id].Disconnect(raft.ServerAddress(own))
			}
		}
	}
}

// nextLeader waits until another server leads.
func nextLeader(t *testing.T, all map[string]*Replica, former *Replica) (next *Replica) {
	t.Helper()
	eventually(t, "another server leads", func() bool {
		for _, r := range all {
			if r != former && r.IsLeader() {
				next = r
			}
		}
		return next != nil
	})
	return next
}

type proposed struct {
	index uint64
	err   error
}

func propose(t *testing.T, r *Replica, job string) <-chan proposed {
	done := make(chan proposed, 1)
	go func() {
		index, err := r.Propose(t.Context(), register(job))
		done <- proposed{index, err}
	}()
	return done
}

// TestAnEntryThatTheNextLeaderHas cuts the leader off after the followers have an entry of it, and
// before it knows that: the next leader commits the entry, and the proposer learns that.
func TestAnEntryThatTheNextLeaderHas(t *testing.T) {
	all, leader, transport, connect := trio(t)
	transport.holds.Store(true)
	last := leader.raft.LastIndex()
	outcome := propose(t, leader, "in flight")
	eventually(t, "the followers have the entry", func() bool {
		for _, r := range all {
			if r.raft.LastIndex() <= last {
				return false
			}
		}
		return true
	})
	connect(false)
	transport.holds.Store(false)
	next := nextLeader(t, all, leader)
	connect(true)
	close(transport.release)
	got := <-outcome
	if got.err != nil || got.index <= last {
		t.Fatalf("the proposer was told %d, %v; the log ended at %d before", got.index, got.err, last)
	}
	for _, r := range []*Replica{leader, next} {
		eventually(t, "the job is in the state", func() bool { return has(r.config.Store, "in flight") })
	}
}

// TestAnEntryThatNobodyElseHas cuts the leader off before it sends an entry. The next leader
// commits others, and the proposer learns that its entry is gone, so that it can be repeated.
func TestAnEntryThatNobodyElseHas(t *testing.T) {
	all, leader, _, connect := trio(t)
	connect(false)
	outcome := propose(t, leader, "gone")
	next := nextLeader(t, all, leader)
	connect(true)
	if got := <-outcome; !errors.Is(got.err, ErrNotLeading) {
		t.Fatalf("the proposer was told %d, %v, want that nothing was done", got.index, got.err)
	}
	index, err := next.Propose(t.Context(), register("gone"))
	if err != nil {
		t.Fatal(err)
	}
	if err := leader.config.Store.Wait(t.Context(), index); err != nil {
		t.Fatal(err)
	}
}

// TestAnUnknownFate ends a leader that was cut off: it does not learn what became of its entry, and
// does not claim anything.
func TestAnUnknownFate(t *testing.T) {
	all, leader, _, connect := trio(t)
	connect(false)
	outcome := propose(t, leader, "unknown")
	nextLeader(t, all, leader)
	eventually(t, "the former leader follows", func() bool { return leader.raft.State() != raft.Leader })
	select {
	case got := <-outcome:
		t.Fatalf("the proposer was told %d, %v although the leader could not know", got.index, got.err)
	default:
	}
	if err := leader.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-outcome; got.err == nil || errors.Is(got.err, ErrNotLeading) {
		t.Errorf("the proposer was told %d, %v", got.index, got.err)
	}
}
