// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"container/list"
	"context"
	"math"
	"sync"
	"time"
)

// Silence says when a node that is not heard of is given up. Neither time
// depends on how many nodes there are.
type Silence struct {
	TTL      time.Duration // a node says that it lives at least this often; agents do three times as often
	Grace    time.Duration // and is given up when it is this late
	MassLoss MassLoss
}

// MassLoss defines when so many nodes are silent at the same time that a broken network is
// likelier than their loss, and how fast they are marked down in that case.
type MassLoss struct {
	Fraction float64 // of the nodes that were up; 1 or more: only when none is heard
	Nodes    int     // and at least so many
	Rate     float64 // fraction of them that is given up per minute; none while no node is heard at all
}

// DefaultMassLoss is what a server does.
var DefaultMassLoss = MassLoss{Fraction: 0.3, Nodes: 20, Rate: 0.05}

// Heartbeats holds the time of each node's last heartbeat. It is the only data of this package
// outside of the state: a new leader gives every node a whole period before the node counts
// as silent.
//
// A server that did not run for some time (it was stopped, or its machine was suspended or
// starved) received no heartbeats, which says nothing about the nodes. So it also watches
// itself, and gives every node a whole period after a pause. All times are of the monotonic
// clock, which cannot be set.
type Heartbeats struct {
	silence Silence

	mu    sync.Mutex
	since time.Time // nobody is counted as silent for longer than from here
	ran   time.Time // when this process was last seen running
	order *list.List
	at    map[string]*list.Element // of order, which is by last
	loss  *loss                    // nil: no mass loss
	speak map[string]speaker       // by node
}

// beat is when one node was heard of last.
type beat struct {
	id   string
	last time.Time
}

// speaker is the agent that speaks for a node.
type speaker struct {
	agent string
	last  time.Time
}

// loss is a mass loss that goes on.
type loss struct {
	nodes  int       // number of nodes that were up when it began
	most   int       // nodes that were silent together
	at     time.Time // when budget was reckoned
	budget float64   // nodes that may be given up
}

// NewHeartbeats returns an empty memory.
func NewHeartbeats(s Silence) *Heartbeats {
	return &Heartbeats{silence: s, order: list.New(), at: map[string]*list.Element{}, speak: map[string]speaker{}}
}

// Lead forgets everything: this server listens from now on.
func (h *Heartbeats) Lead(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.since, h.ran, h.loss = now, now, nil
	h.order.Init()
	clear(h.at)
	clear(h.speak)
}

// Speak notes that an agent speaks for a node, unless another one was heard within
// a TTL: then it returns how long ago.
func (h *Heartbeats) Speak(nodeID, agent string, now time.Time) (silent time.Duration, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s, known := h.speak[nodeID]; known && s.agent != agent {
		if silent = now.Sub(s.last); silent < h.silence.TTL {
			return silent, false
		}
	}
	h.speak[nodeID] = speaker{agent, now}
	return 0, true
}

// Watch notices pauses of this process until ctx ends.
func (h *Heartbeats) Watch(ctx context.Context) {
	tick := time.NewTicker(max(h.pause()/4, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			h.mu.Lock()
			h.runs(now)
			h.mu.Unlock()
		}
	}
}

// pause is how long this process may stand still before it counts. Shorter
// ones are covered by the grace.
func (h *Heartbeats) pause() time.Duration { return h.silence.Grace / 2 }

// runs notes that this process runs. After a pause, everybody gets a whole
// period; the caller holds the lock.
func (h *Heartbeats) runs(now time.Time) {
	if !h.ran.IsZero() && now.Sub(h.ran) > h.pause() {
		h.since, h.loss = now, nil
	}
	if now.After(h.ran) {
		h.ran = now
	}
}

// Beat notes that the node is alive.
func (h *Heartbeats) Beat(nodeID string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.at[nodeID]
	if e == nil {
		h.at[nodeID] = h.order.PushBack(&beat{nodeID, now})
		return
	}
	e.Value.(*beat).last = now
	h.order.MoveToBack(e)
}

// track begins to listen for a node that is up.
func (h *Heartbeats) track(nodeID string, now time.Time) {
	h.mu.Lock()
	known := h.at[nodeID] != nil
	h.mu.Unlock()
	if !known {
		h.Beat(nodeID, now)
	}
}

// forget stops listening for a node.
func (h *Heartbeats) forget(nodeID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.speak, nodeID)
	if e := h.at[nodeID]; e != nil {
		h.order.Remove(e)
		delete(h.at, nodeID)
	}
}

// heard is when a node counts as heard of last.
func (h *Heartbeats) heard(e *list.Element) time.Time {
	if last := e.Value.(*beat).last; last.After(h.since) {
		return last
	}
	return h.since
}

// missedHeartbeats holds the nodes that are silent at one time, those that have been
// silent longest first.
type missedHeartbeats struct {
	gone  []string  // nodes to give up
	held  []string  // nodes that are silent for as long, but are not given up yet
	late  int       // number of nodes silent for a TTL or longer; during a mass loss, their maximum
	nodes int       // number of nodes that are up; during a mass loss, their number when it began
	deaf  bool      // reports whether every node is silent
	begin bool      // reports whether a mass loss begins now
	end   bool      // reports whether a mass loss ends now
	next  time.Time // time of the next check
}

// findMissed returns the nodes that are silent now. isUp reports whether a node is up in
// the state; findMissed forgets other nodes.
func (h *Heartbeats) findMissed(now time.Time, isUp func(nodeID string) bool) (v missedHeartbeats) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs(now)
	limit := h.silence.TTL + h.silence.Grace
	var silent []string
	for e := h.order.Front(); e != nil; {
		b, next := e.Value.(*beat), e.Next()
		quiet := now.Sub(h.heard(e))
		if quiet < h.silence.TTL {
			break
		}
		if !isUp(b.id) {
			h.order.Remove(e)
			delete(h.at, b.id)
		} else {
			v.late++
			if quiet >= limit {
				silent = append(silent, b.id)
			}
		}
		e = next
	}
	v.nodes = h.order.Len()
	v.deaf = v.late == v.nodes && v.late >= h.silence.MassLoss.Nodes
	allowed := h.allowance(&v, len(silent), now)
	v.gone, v.held = silent[:allowed], silent[allowed:]
	v.next = now.Add(limit)
	if e := h.order.Front(); e != nil {
		v.next = h.heard(e).Add(limit)
	}
	if h.loss != nil {
		v.next = now.Add(min(500*time.Millisecond, h.silence.Grace))
	}
	return v
}

// allowance is how many of the silent may be given up now.
func (h *Heartbeats) allowance(v *missedHeartbeats, silent int, now time.Time) int {
	m := h.silence.MassLoss
	switch many := v.late >= m.Nodes && float64(v.late) >= min(m.Fraction, 1)*float64(v.nodes); {
	case h.loss == nil && silent > 0 && many:
		h.loss, v.begin = &loss{nodes: v.nodes, at: now}, true
	case h.loss != nil && v.late < m.Nodes:
		h.loss, v.end = nil, true
	}
	l := h.loss
	if l == nil {
		return silent
	}
	l.most = max(l.most, v.late)
	v.late, v.nodes = l.most, l.nodes
	perSecond := m.Rate * float64(l.nodes) / 60
	if !v.deaf {
		l.budget = min(l.budget+perSecond*now.Sub(l.at).Seconds(), 2*max(perSecond, 1))
	}
	l.at = now
	allowed := min(int(math.Floor(l.budget)), silent)
	l.budget -= float64(allowed)
	return allowed
}
