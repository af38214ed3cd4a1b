// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// TestThreeServers has three servers agree, loses the leader, goes on with the
// other two, and lets a server that was away for long catch up by a snapshot.
func TestThreeServers(t *testing.T) {
	var servers []raft.Server
	transports := map[raft.ServerID]*raft.InmemTransport{}
	dirs := map[raft.ServerID]string{}
	for i := range 3 {
		id := raft.ServerID(fmt.Sprint("server-", i))
		_, transport := raft.NewInmemTransportWithTimeout(raft.ServerAddress(id), 50*time.Millisecond)
		servers = append(servers, raft.Server{ID: id, Address: raft.ServerAddress(id)})
		transports[id], dirs[id] = transport, t.TempDir()
	}
	connect := func() {
		for a, from := range transports {
			for b, to := range transports {
				if a != b {
					from.Connect(raft.ServerAddress(b), to)
				}
			}
		}
	}
	connect()
	running := map[raft.ServerID]*Replica{}
	run := func(id raft.ServerID) {
		r, err := Open(Config{
			Dir: dirs[id], Store: state.New(), ServerID: string(id), Transport: transports[id], Servers: servers,
			ElectionTimeout: 300 * time.Millisecond, TrailingEntries: 4,
		})
		if err != nil {
			t.Fatal(err)
		}
		running[id] = r
		t.Cleanup(func() { r.Close() })
	}
	for id := range transports {
		run(id)
	}

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	leader := func() raft.ServerID {
		t.Helper()
		var leader raft.ServerID
		wait.Until(t, "a server leads", func() bool {
			for id, r := range running {
				if r.IsLeader() {
					leader = id
				}
			}
			return leader != ""
		})
		return leader
	}
	var last uint64
	write := func(from, to int) {
		t.Helper()
		for i := from; i < to; {
			index, err := running[leader()].Propose(ctx, register(fmt.Sprint("job-", i)))
			if err == nil {
				last = index
				i++
			} else if ctx.Err() != nil {
				t.Fatal(err)
			}
		}
	}
	agree := func() {
		t.Helper()
		var first []byte
		for id, r := range running {
			if err := r.config.Store.Wait(ctx, last); err != nil {
				t.Fatalf("%s does not get to entry %d: it is at %d", id, last, r.config.Store.Index())
			}
			var b bytes.Buffer
			if _, err := r.config.Store.Snapshot().WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = b.Bytes()
			} else if !bytes.Equal(first, b.Bytes()) {
				t.Errorf("%s has another state than the others", id)
			}
		}
	}

	write(0, 20)
	agree()

	lost := leader()
	transports[lost].DisconnectAll()
	if err := running[lost].Close(); err != nil {
		t.Fatal(err)
	}
	delete(running, lost)
	write(20, 60)
	agree()
	if err := running[leader()].Snapshot(); err != nil {
		t.Fatal(err)
	}

	_, transports[lost] = raft.NewInmemTransport(raft.ServerAddress(lost))
	connect()
	run(lost)
	write(60, 70)
	agree()
}
