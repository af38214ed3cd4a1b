// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/eventstream"
	"github.com/reeve-run/reeve/internal/server/replica"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// A seat is one of several servers that agree, behind its own address.
type seat struct {
	id        raft.ServerID
	replica   *replica.Replica
	transport *raft.InmemTransport
	handler   *Handler
	http      *httptest.Server
}

// lose ends a server as a crash would.
func (s *seat) lose(t *testing.T) {
	t.Helper()
	s.transport.DisconnectAll()
	s.http.CloseClientConnections()
	s.handler.Close()
	s.http.Close()
	if err := s.replica.Close(); err != nil {
		t.Error(err)
	}
}

// threeSeats are servers that agree by their log; only their state is behind the
// API.
func threeSeats(t *testing.T) []*seat {
	t.Helper()
	var servers []raft.Server
	seats := make([]*seat, 3)
	for i := range seats {
		id := raft.ServerID(fmt.Sprint("server-", i))
		_, transport := raft.NewInmemTransport(raft.ServerAddress(id))
		servers = append(servers, raft.Server{ID: id, Address: raft.ServerAddress(id)})
		seats[i] = &seat{id: id, transport: transport}
	}
	for _, a := range seats {
		for _, b := range seats {
			if a != b {
				a.transport.Connect(raft.ServerAddress(b.id), b.transport)
			}
		}
	}
	for _, s := range seats {
		store := state.New()
		r, err := replica.Open(replica.Config{
			Dir: t.TempDir(), Store: store, ServerID: string(s.id), Transport: s.transport, Servers: servers, ElectionTimeout: 300 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		s.replica = r
		s.handler = New(Config{Server: newIdleServer(t).Server})
		s.handler.events = eventstream.NewHub(func() *state.Store { return store }, nil)
		s.http = httptest.NewServer(s.handler)
	}
	return seats
}

// TestEventStreamGoesOnOverAChangeOfLeader reads from the leader until that is
// lost, and then from one that followed it, from the index where it was: nothing
// is told twice, nothing is left out, and what each server tells is the same.
func TestEventStreamGoesOnOverAChangeOfLeader(t *testing.T) {
	const writes = 200
	seats := threeSeats(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var mu sync.Mutex
	live := seats
	leader := func() *seat {
		for ctx.Err() == nil {
			mu.Lock()
			for _, s := range live {
				if s.replica.IsLeader() {
					mu.Unlock()
					return s
				}
			}
			mu.Unlock()
			wait.Pass(ctx, 5*time.Millisecond)
		}
		t.Error("no leader")
		return nil
	}
	first := leader()
	if first == nil {
		return
	}

	written := make(chan struct{})
	go func() {
		defer close(written)
		for i := 0; i < writes && ctx.Err() == nil; {
			l := leader()
			if l == nil {
				return
			}
			if _, err := l.replica.Propose(ctx, &state.RegisterJob{Job: storedJob(fmt.Sprint("job-", i))}); err == nil {
				i++
			}
			if i == writes/2 && l == first {
				mu.Lock()
				live = nil
				for _, s := range seats {
					if s != first {
						live = append(live, s)
					}
				}
				mu.Unlock()
				first.lose(t)
			}
		}
	}()
	// The reader goes on with any server that answers.
	var got []string
	at, last := uint64(0), fmt.Sprint("job-", writes-1)
	servers := []*seat{first}
	for _, s := range seats {
		if s != first {
			servers = append(servers, s)
		}
	}
	changes := 0
	for done := false; !done && ctx.Err() == nil; {
		for b, err := range streamAll(ctx, servers[0].http.URL, fmt.Sprintf("topic=Job&complete&index=%d", at+1)) {
			if err != nil {
				break
			}
			if b.Missed != nil || b.Index <= at && len(b.Events) > 0 {
				t.Fatalf("at index %d: %+v", at, b)
			}
			at = max(at, b.Index)
			for _, e := range b.Events {
				got = append(got, lineOf(t, e))
				done = done || e.Key == last
			}
			if done {
				break
			}
		}
		if !done {
			servers = append(servers[1:], servers[0])
			changes++
		}
	}
	<-written
	if changes == 0 {
		t.Error("the reader's server was never lost")
	}
	for _, s := range live {
		var want []string
		for b, err := range streamAll(ctx, s.http.URL, "topic=Job&complete&index=1") {
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range b.Events {
				want = append(want, lineOf(t, e))
			}
			if n := len(b.Events); n > 0 && b.Events[n-1].Key == last {
				break
			}
		}
		if len(want) < writes {
			t.Errorf("%s tells of %d events only", s.id, len(want))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s tells (-) what was not heard on the way (+):\n%s", s.id, diff)
		}
	}
	for _, s := range live { // both had to be there: alone neither learns what the other committed
		s.lose(t)
	}
}

func lineOf(t *testing.T, e *api.Event) string {
	t.Helper()
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
