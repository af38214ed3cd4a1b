// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

const (
	clocksEvery = 15 * time.Second
	// clockTolerance is the difference of clocks that waits for a person. Deadlines that a leader
	// stores are wrong by as much for the next leader.
	clockTolerance = 10 * time.Second
)

// clocks holds the differences of the servers' clocks from the leader's, as the leader knows them.
type clocks struct {
	mu    sync.Mutex
	ahead map[string]time.Duration // by the id of the server; negative: its clock is behind
}

// compareClocks asks the other servers for their time until the term ends.
func (s *Server) compareClocks(ctx context.Context, c *clocks) {
	tick := time.NewTicker(clocksEvery)
	defer tick.Stop()
	for {
		peers, _ := s.replica.Servers()
		var asked sync.WaitGroup
		for _, p := range peers {
			if p.ID == s.ServerID() {
				continue
			}
			asked.Go(func() {
				if speaker, err := s.cfg.Member.SpeakerAt(ctx, p.Address); err == nil && (speaker.ID == p.ID || speaker.ID == "") {
					s.noteClock(c, p.ID, speaker.Ahead)
				}
			})
		}
		asked.Wait()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// noteClock stores the difference of a server's clock, and logs one that has become too large.
func (s *Server) noteClock(c *clocks, id string, ahead time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ahead == nil {
		c.ahead = map[string]time.Duration{}
	}
	if ahead.Abs() > clockTolerance && c.ahead[id].Abs() <= clockTolerance {
		s.cfg.Logger.Warn("the clock of a server differs from the leader's: set the clocks of both, for example with NTP", "server", id, "ahead", ahead)
	}
	c.ahead[id] = ahead
}

// attention lists the clocks that wait for a person.
func (c *clocks) attention(servers []*api.ServerStatus) (list []*api.Attention) {
	c.mu.Lock()
	defer c.mu.Unlock()
	const next = "Set its clock, for example with NTP: delays and deadlines of work are stored as times"
	leader, others, wrong := "", 0, []*api.ServerStatus{}
	for _, m := range servers {
		ahead, known := c.ahead[m.ID]
		switch {
		case m.Leader:
			leader = m.Name
		case known && m.Status != api.ServerLeft:
			others++
			if ahead.Abs() > clockTolerance {
				wrong = append(wrong, m)
			}
		}
	}
	if others > 1 && len(wrong) == others && c.agree(wrong) {
		return []*api.Attention{{Kind: api.AttentionServer, Next: next,
			Message: fmt.Sprintf("The clock of server %s, which leads, is %s the clocks of all others", leader, about(-c.ahead[wrong[0].ID]))}}
	}
	for _, m := range wrong {
		list = append(list, &api.Attention{Kind: api.AttentionServer, Next: next,
			Message: fmt.Sprintf("The clock of server %s is %s the clock of server %s, which leads", m.Name, about(c.ahead[m.ID]), leader)})
	}
	return list
}

// about returns a difference of clocks, which is known to about a second.
func about(ahead time.Duration) string {
	if ahead.Abs() > time.Minute {
		ahead = ahead.Round(10 * time.Second)
	}
	return apart(ahead)
}

// agree reports whether the clocks of servers show the same time.
func (c *clocks) agree(servers []*api.ServerStatus) bool {
	for _, m := range servers {
		if (c.ahead[m.ID] - c.ahead[servers[0].ID]).Abs() > clockTolerance {
			return false
		}
	}
	return true
}
