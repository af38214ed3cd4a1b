// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodelink

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
)

func TestANodeReceivesItsAllocationsInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		s := newTestServer(t, newLeader())
		a := newAgent(s)
		go a.run(ctx)
		time.Sleep(time.Second)
		for i := range uint64(3) {
			s.feed(nodeID).put(8+i, false)
		}
		synctest.Wait()
		if got, want := a.messages(), "[complete 7 8 9 10]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if s.Links() != 1 {
			t.Errorf("the server has %d links, want 1", s.Links())
		}
	})
}

// TestAServerWaitsUntilItsStateIsCurrent covers a node that moves to a server which lags behind.
func TestAServerWaitsUntilItsStateIsCurrent(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		l := newLeader()
		l.index = 12
		s := newTestServer(t, l)
		a := newAgent(s)
		go a.run(ctx)
		time.Sleep(2 * time.Second)
		if got := a.messages(); got != "[]" {
			t.Fatalf("a server at index 7 sent %s, and the leader is at 12", got)
		}
		s.apply(12)
		synctest.Wait()
		if got, want := a.messages(), "[complete 12]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestAHeartbeatIsAcknowledgedOnceTheLeaderKnowsOfIt(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		l := newLeader()
		s := newTestServer(t, l)
		a := newAgent(s)
		if _, err := a.Heartbeat(ctx); err != ErrUnlinked {
			t.Fatalf("without a connection: %v, want ErrUnlinked", err)
		}
		go a.run(ctx)
		time.Sleep(time.Second)
		l.setDown(true)
		began := time.Now()
		done := make(chan error, 1)
		go func() {
			_, err := a.Heartbeat(ctx)
			done <- err
		}()
		time.Sleep(3 * time.Second)
		select {
		case err := <-done:
			t.Fatalf("a heartbeat that the leader does not know was answered: %v", err)
		default:
		}
		l.setDown(false)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if heard := l.lastHeard(nodeID); heard.Before(began.Add(3 * time.Second)) {
			t.Errorf("acknowledged, but the leader heard of the node at %s", heard.Sub(began))
		}
	})
}

// TestANodeLeavesAServerThatIsCutOff is the case of a server which reaches its nodes and not the
// leader: its nodes are heard of through another server within their TTL.
func TestANodeLeavesAServerThatIsCutOff(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		near, far := newLeader(), newLeader()
		first, second := newTestServer(t, near), newTestServer(t, far)
		a := newAgent(first, second)
		go a.run(ctx)
		time.Sleep(time.Second)
		go a.beats(ctx)
		time.Sleep(ttl)
		cut := near.lastHeard(nodeID)
		near.setDown(true)
		for far.lastHeard(nodeID).IsZero() {
			if time.Since(cut) > 2*ttl {
				t.Fatalf("the node has not reached the second server after %s", time.Since(cut))
			}
			time.Sleep(100 * time.Millisecond)
		}
		if took := far.lastHeard(nodeID).Sub(cut); took >= ttl {
			t.Errorf("the cluster did not hear of the node for %s, as long as its TTL of %s", took, ttl)
		}
		if a.Server() != "s2" || first.Links() != 0 {
			t.Errorf("the node is connected to %q, and the first server has %d links", a.Server(), first.Links())
		}
		if got, want := a.messages(), "[complete 7 complete 7]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		far.setDown(true)
		near.setDown(false)
		time.Sleep(ttl)
		if a.Server() != "s1" {
			t.Errorf("the node is connected to %q, want the server that reaches the leader again", a.Server())
		}
	})
}

func TestAShortAbsenceOfTheLeaderIsNoEventForNodes(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		l := newLeader()
		a := newAgent(newTestServer(t, l))
		go a.run(ctx)
		time.Sleep(time.Second)
		go a.beats(ctx)
		for range 3 {
			time.Sleep(ttl)
			l.setDown(true)
			time.Sleep(3 * time.Second)
			l.setDown(false)
		}
		time.Sleep(time.Second)
		if got, want := a.messages(), "[complete 7]"; got != want {
			t.Errorf("got %s, want %s: the node lost its connection", got, want)
		}
	})
}

func TestANodeMovesWhenItsServerEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		l := newLeader()
		first, second := newTestServer(t, l), newTestServer(t, l)
		a := newAgent(first, second)
		go a.run(ctx)
		time.Sleep(time.Second)
		first.close()
		time.Sleep(time.Second)
		if got := a.Server(); got != "s2" {
			t.Fatalf("connected to %q, want s2", got)
		}
		if told := second.feed(nodeID).told; told != (api.Position{Timeline: "t1", Index: 7}) {
			t.Errorf("the second server was told %+v, want the position of the last message", told)
		}
		if !first.feed(nodeID).isClosed() {
			t.Error("the first server keeps the feed of the node")
		}
	})
}

func TestTheLeadersRejectionReachesTheNode(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		l := newLeader()
		a := newAgent(newTestServer(t, l), newTestServer(t, l))
		l.refuse(nodeID, api.Errorf(api.CodeNotFound, "register it first"))
		if err := a.Stream(ctx, nodeID, api.Position{}, nil); api.CodeOf(err) != api.CodeNotFound {
			t.Errorf("an unknown node: %v, want CodeNotFound", err)
		}
		l.refuse(nodeID, nil)
		go a.run(ctx)
		time.Sleep(time.Second)
		l.refuse(nodeID, api.Errorf(api.CodeConflict, "another agent speaks for the node"))
		if _, err := a.Heartbeat(ctx); api.CodeOf(err) != api.CodeConflict {
			t.Errorf("a heartbeat of a twin: %v, want CodeConflict", err)
		}
	})
}

func TestTheNewerConnectionOfANodeReplacesTheOlder(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		s := newTestServer(t, newLeader())
		older, newer := newAgent(s), newAgent(s)
		ended := make(chan error, 1)
		go func() {
			ended <- older.Stream(ctx, nodeID, api.Position{}, func(*api.NodeAllocations) error { return nil })
		}()
		time.Sleep(time.Second)
		go newer.run(ctx)
		if err := <-ended; api.CodeOf(err) != api.CodeUnavailable {
			t.Errorf("the older connection ended with %v, want CodeUnavailable", err)
		}
		time.Sleep(time.Second)
		if s.Links() != 1 || newer.Server() == "" {
			t.Errorf("%d links, the newer agent is connected to %q", s.Links(), newer.Server())
		}
	})
}

func TestReportsOfManyNodesShareMessages(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		l := newLeader()
		a := newAgent(newTestServer(t, l))
		go a.run(ctx)
		time.Sleep(time.Second)
		for i := range uint64(3) {
			index, err := a.Report(ctx, []byte("report"))
			if err != nil || index != 8+i {
				t.Fatalf("report %d: index %d, %v; want %d", i, index, err, 8+i)
			}
		}
		l.setDown(true)
		if _, err := a.Report(ctx, []byte("report")); api.CodeOf(err) != api.CodeUnavailable {
			t.Errorf("without a leader: %v, want CodeUnavailable", err)
		}
		for i := range l.reports[1:] {
			if l.reports[i].Number >= l.reports[i+1].Number || l.reports[i].Session != l.reports[i+1].Session {
				t.Errorf("reports %d and %d of one agent have the numbers %d and %d", i, i+1, l.reports[i].Number, l.reports[i+1].Number)
			}
		}
	})
}

func TestManyNodesCostFewMessagesToTheLeader(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		const nodes = 200
		l := newLeader()
		s := newTestServer(t, l)
		ids := make([]string, nodes)
		var group sync.WaitGroup
		for i := range ids {
			ids[i] = api.NewID()
			s.peer = Peer{Node: ids[i]}
			a := newAgent(s)
			go func() {
				_ = a.Stream(ctx, ids[i], api.Position{}, func(*api.NodeAllocations) error { return nil })
			}()
			synctest.Wait()
			group.Go(func() {
				time.Sleep(time.Second)
				a.beats(ctx)
			})
		}
		time.Sleep(2 * time.Second)
		before := l.sent()
		time.Sleep(60 * time.Second)
		if sent := l.sent() - before; sent > 61 {
			t.Errorf("%d messages to the leader in a minute, want one per second", sent)
		}
		for _, id := range ids {
			if since := time.Since(l.lastHeard(id)); since > ttl/2 {
				t.Errorf("the leader last heard of a node %s ago", since)
			}
		}
		s.close()
	})
}
