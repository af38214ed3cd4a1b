// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// follow opens an event stream at a site. The returned function returns its next message, without
// heartbeats.
func (g *sites) follow(s *site, query string) func() *api.EventBatch {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), 2*time.Minute)
	g.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+s.addr+"/v1/event/stream?"+query, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	r.Header.Set("X-Nomad-Token", operatorToken)
	resp, err := g.user.Do(r)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		g.t.Fatalf("the stream: %d", resp.StatusCode)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return func() *api.EventBatch {
		for lines.Scan() {
			b := new(api.EventBatch)
			if err := json.Unmarshal(lines.Bytes(), b); err != nil {
				g.t.Fatalf("%v in %s", err, lines.Bytes())
			}
			if b.Index > 0 {
				return b
			}
		}
		g.t.Fatalf("the stream ended: %v", lines.Err())
		return nil
	}
}

// TestAnEventStreamOfAFollowerOutlivesTheLeader follows the changes of a namespace on a follower while the leader
// is lost: the follower sends every change once, in order, without an interruption.
func TestAnEventStreamOfAFollowerOutlivesTheLeader(t *testing.T) {
	const writes = 60
	g := newSites(t, 30*time.Second)
	follower, leader := g.follower(), g.leader()
	next := g.follow(follower, "topic=Namespace&snapshot=true")
	written := make(chan struct{})
	go func() {
		defer close(written)
		for n := range writes {
			if n == writes/2 {
				g.isolate(leader)
			}
			wait.Poll(t.Context(), time.Millisecond, func() bool {
				return g.describe(follower, "default", fmt.Sprint("value-", n)).status == http.StatusOK
			})
		}
	}()
	var index uint64
	seen := -1
	for seen < writes-1 {
		b := next()
		if b.Missed != nil || b.Snapshot == "" && b.Index <= index {
			t.Fatalf("after index %d: %+v", index, b)
		}
		index = max(index, b.Index)
		for _, e := range b.Events {
			var payload struct{ Namespace api.Namespace }
			text, err := json.Marshal(e.Payload)
			if err == nil {
				err = json.Unmarshal(text, &payload)
			}
			if err != nil {
				t.Fatal(err)
			}
			var n int
			if _, err := fmt.Sscanf(payload.Namespace.Description, "value-%d", &n); err != nil {
				continue // the content before
			}
			if b.Snapshot == "" && n != seen && n != seen+1 {
				t.Fatalf("value %d follows %d", n, seen)
			}
			seen = n
		}
	}
	<-written
	if follower.srv.Store().Index() < index {
		t.Error("the stream was ahead of its server")
	}
}

// TestAServerWithoutALeaderEndsItsStreams lets a client look for another server.
func TestAServerWithoutALeaderEndsItsStreams(t *testing.T) {
	g := newSites(t, 500*time.Millisecond)
	follower := g.follower()
	c := &call{Handler: follower.Handler, r: &http.Request{}, route: &route{Method: http.MethodGet}}
	c.r, _ = http.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/event/stream", nil)
	if err := c.checkContact(); err != nil {
		t.Fatalf("a follower: %v", err)
	}
	follower.lastContact = func() time.Duration { return silence + time.Second }
	if err := c.checkContact(); api.CodeOf(err) != api.CodeUnavailable {
		t.Errorf("a server that heard of no leader for %s continues: %v", silence, err)
	}
	c.r, _ = http.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/event/stream?stale", nil)
	if err := c.checkContact(); err != nil {
		t.Errorf("a stream that may be old: %v", err)
	}
	follower.lastContact = follower.srv.LastContact
	g.isolate(follower)
	wait.Until(t, "the server counts the time without a leader", func() bool { return follower.srv.LastContact() > time.Second })
}
