// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodelink

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestANodeReturnsToTheServerThatItPrefers takes the preferred server away from many nodes, and
// brings it back.
func TestANodeReturnsToTheServerThatItPrefers(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		near, far := newLeader(), newLeader()
		var agents []*agent
		for range 20 { // each with servers of its own, because a test server has one node
			a := newAgent(newTestServer(t, near), newTestServer(t, far))
			agents = append(agents, a)
			go a.run(ctx)
			go a.beats(ctx)
		}
		on := func(name string) (n int) {
			synctest.Wait()
			for _, a := range agents {
				if a.Server() == name {
					n++
				}
			}
			return n
		}
		time.Sleep(ttl)
		near.setDown(true)
		time.Sleep(2 * ttl)
		if n := on("s2"); n != len(agents) {
			t.Fatalf("%d of %d nodes are on the other server", n, len(agents))
		}
		time.Sleep(20 * time.Minute)
		if n := on("s2"); n != len(agents) {
			t.Errorf("%d of %d nodes stay on the healthy server while the preferred one is away", n, len(agents))
		}
		for _, a := range agents {
			if got, want := a.messages(), "[complete 7 complete 7]"; got != want {
				t.Errorf("an attempt to return disturbed the connection: messages %s, want %s", got, want)
			}
		}
		near.setDown(false)
		moved, most, before := time.Duration(0), 0, 0
		for ; on("s1") < len(agents); moved += time.Second {
			if moved > 2*returnAfter+time.Minute {
				t.Fatalf("%d of %d nodes have returned after %s", on("s1"), len(agents), moved)
			}
			time.Sleep(time.Second)
			now := on("s1")
			most, before = max(most, now-before), now
		}
		if moved < returnAfter/2 || most > len(agents)/2 {
			t.Errorf("all nodes returned within %s, up to %d in one second: they are not spread", moved, most)
		}
	})
}

// TestAServerThatKeepsFailingMovesItsNodesRarely has the preferred server fail as soon as the
// node is back.
func TestAServerThatKeepsFailingMovesItsNodesRarely(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		near, far := newLeader(), newLeader()
		a := newAgent(newTestServer(t, near), newTestServer(t, far))
		go a.run(ctx)
		go a.beats(ctx)
		time.Sleep(time.Second)
		const hour = 60
		last, moves := a.Server(), 0
		for range hour * 60 {
			near.setDown(a.Server() == "s1")
			time.Sleep(time.Second)
			if now := a.Server(); now != "" && now != last {
				if now == "s1" {
					moves++
				}
				last = now
			}
		}
		if limit := int(hour * time.Minute / returnAfter); moves == 0 || moves > limit {
			t.Errorf("the node moved back %d times within an hour, want 1 to %d", moves, limit)
		}
	})
}

// TestNewServersGetTheirNodes changes the list of servers while the node is connected.
func TestNewServersGetTheirNodes(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		l := newLeader()
		a := newAgent(newTestServer(t, l), newTestServer(t, l))
		order := make(chan []string, 1)
		order <- []string{"s2"}
		a.Servers = func() []string {
			names := <-order
			order <- names
			return names
		}
		go a.run(ctx)
		go a.beats(ctx)
		time.Sleep(10 * time.Minute)
		if got := fmt.Sprint(a.Server(), a.messages()); got != "s2[complete 7]" {
			t.Fatalf("with one server: %s", got)
		}
		<-order
		order <- []string{"s1", "s2"}
		time.Sleep(2*returnAfter + time.Second)
		if got := a.Server(); got != "s1" {
			t.Errorf("the node is on %q, want the new server that it prefers", got)
		}
	})
}
