// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodelink

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
)

const (
	// beatsPerTTL is the number of messages to the leader in the longest time between two
	// heartbeats of a node.
	beatsPerTTL = 10
	maxInterval = time.Second
	// helloDelay is the time in which nodes that arrive together share one message.
	helloDelay = 5 * time.Millisecond
	// retryDelay is the pause after a message that the leader did not answer.
	retryDelay = 100 * time.Millisecond
	// maxPerExchange bounds the heartbeats of one message.
	maxPerExchange = 1 << 14
)

// patience returns the time without an answer of a leader after which the nodes are sent away. A
// heartbeat is then at most a third of a TTL, one interval and this time old: the node reaches
// another server before its TTL ends.
func (s *Server) patience() time.Duration { return s.TTL * 2 / 5 }

// interval returns the time between two messages to the leader.
func (s *Server) interval() time.Duration { return min(maxInterval, s.TTL/beatsPerTTL) }

// wait has the leader told that the node of a link is alive.
func (s *Server) wait(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.waits {
		return
	}
	l.waits = true
	s.waiting = append(s.waiting, l)
	if !l.open {
		select {
		case s.news <- struct{}{}:
		default:
		}
	}
}

// keepExchanging tells the leader which nodes are alive, until ctx ends.
func (s *Server) keepExchanging(ctx context.Context) {
	tick := time.NewTicker(s.interval())
	defer tick.Stop()
	var failing time.Time // time of the first of the failures that go on
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.news:
			pause(ctx, helloDelay)
		}
		for more := true; more && ctx.Err() == nil; {
			batch := s.takeWaiting()
			if len(batch) == 0 {
				break
			}
			began := time.Now()
			err := s.exchange(ctx, batch)
			if err == nil {
				failing = time.Time{}
				s.attach()
				more = len(batch) == maxPerExchange
				continue
			}
			if failing.IsZero() {
				failing = began
			}
			s.putBack(batch)
			if time.Since(failing) >= s.patience() || api.CodeOf(err) == api.CodeNotFound {
				s.detach(err)
			}
			pause(ctx, retryDelay)
		}
	}
}

// takeWaiting returns the links that wait for the leader, and forgets those that have ended.
func (s *Server) takeWaiting() []*link {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.waiting), maxPerExchange)
	batch := s.waiting[:n:n]
	if s.waiting = s.waiting[n:]; len(s.waiting) == 0 {
		s.waiting = nil
	}
	kept := batch[:0]
	for _, l := range batch {
		l.waits = false
		if _, there := s.conns[l.conn]; there {
			kept = append(kept, l)
		}
	}
	return kept
}

// putBack has links wait again.
func (s *Server) putBack(batch []*link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range batch {
		if !l.waits {
			l.waits = true
			s.waiting = append(s.waiting, l)
		}
	}
}

// exchange tells the leader of the nodes of links, and the nodes what the leader says.
func (s *Server) exchange(ctx context.Context, batch []*link) error {
	m := &nodeproto.Heartbeats{Nodes: make([][]byte, len(batch)), Agents: make([][]byte, len(batch))}
	arriving := make([]bool, len(batch))
	s.mu.Lock()
	for i, l := range batch {
		arriving[i] = !l.open
	}
	s.mu.Unlock()
	rejected := map[int]error{}
	for i, l := range batch {
		m.Nodes[i], m.Agents[i] = nodeproto.PackID(l.node), []byte(l.agent)
		m.Arriving = m.Arriving || arriving[i]
		if s.Removed(l.node) {
			rejected[i] = api.Errorf(api.CodeForbidden, "node %.64s was removed from the cluster: stop its agent, empty its data directory, and join again with a new token", l.node)
		}
	}
	asking, cancel := context.WithTimeout(ctx, s.patience()/2)
	result, err := s.Heard(asking, m)
	cancel()
	if err != nil {
		return err
	}
	for _, r := range result.Rejected {
		rejected[int(r.Position)] = r.Failure.AsError()
	}
	var accepted []*link
	for i, l := range batch {
		switch {
		case rejected[i] != nil:
			l.fail(rejected[i])
		case arriving[i]:
			accepted = append(accepted, l)
		default:
			l.acknowledge()
		}
	}
	if len(accepted) > 0 {
		s.accept(ctx, accepted, result.Index)
	}
	return nil
}

// accept sends nodes their allocations once the state of this server is as new as the leader's was.
func (s *Server) accept(ctx context.Context, links []*link, index uint64) {
	waiting, cancel := context.WithTimeout(ctx, s.patience())
	s.running.Add(1) // the caller is one of the goroutines that Run waits for
	go func() {
		defer s.running.Done()
		defer cancel()
		err := s.Await(waiting, index)
		for _, l := range links {
			if err != nil {
				l.fail(api.Errorf(api.CodeUnavailable, "this server has not received the newest state yet: connect to another server"))
				continue
			}
			s.begin(l)
		}
	}()
}

// begin opens the feed of a link. The node's older link ends.
func (s *Server) begin(l *link) {
	feed, err := s.Open(l.node, l.told, func() { l.conn.wake(l) })
	if err != nil {
		l.fail(err)
		return
	}
	s.mu.Lock()
	if _, there := s.conns[l.conn]; !there {
		s.mu.Unlock()
		feed.Close()
		return
	}
	older := s.byNode[l.node]
	s.byNode[l.node], l.open = l, true
	s.mu.Unlock()
	if older != nil && older != l {
		older.fail(api.Errorf(api.CodeUnavailable, "the agent has a newer connection"))
	}
	l.begin(feed)
}

// attach notes that the leader answers.
func (s *Server) attach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.detached {
		s.detached = false
		s.Logger.Info("the leader is reachable again: nodes may connect")
	}
}

// detach sends all nodes to other servers.
func (s *Server) detach(cause error) {
	s.mu.Lock()
	links := s.waiting
	for _, l := range s.byNode {
		links = append(links, l)
	}
	s.waiting = nil
	for _, l := range links {
		l.waits = false
	}
	if !s.detached {
		s.detached = true
		s.Logger.Warn("the leader cannot be reached: nodes are sent to other servers", "nodes", len(s.byNode), "error", cause)
	}
	s.mu.Unlock()
	for _, l := range links {
		l.fail(errDetached)
	}
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
