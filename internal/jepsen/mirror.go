// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// A mirror follows the jobs of a cluster by the event stream of one server, over all faults.
type mirror struct {
	mu         sync.Mutex
	jobs       map[string]bool
	index      uint64          // of the newest message since the last snapshot began
	newest     uint64          // index of all messages
	within     bool            // reports whether the stream is in a snapshot
	missed     bool            // reports whether the stream missed events, and owes a snapshot
	streams    int             // that a fault ended
	seen       map[uint64]bool // indexes of messages with events, since forget
	skipped    []span          // indexes whose changes snapshots contain, since forget
	violations []string
}

// A span is a range of indexes.
type span struct{ after, to uint64 }

// follow applies the messages of the stream until ctx ends.
func (m *mirror) follow(ctx context.Context, c *client.Client) {
	o := client.EventOptions{Topics: map[string][]string{api.TopicJob: nil}, Snapshot: true, OnBreak: func(error) { m.broke() }}
	for batch, err := range c.Events().Follow(ctx, o) {
		if err != nil {
			if ctx.Err() == nil {
				m.violate("the event stream ended: %v", err)
			}
			return
		}
		m.apply(batch)
	}
}

func (m *mirror) broke() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.streams++
	m.within, m.missed = false, false
}

func (m *mirror) violate(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.violations = append(m.violations, fmt.Sprintf(format, args...))
}

// apply applies one message. Outside of snapshots, the indexes of messages increase.
func (m *mirror) apply(b *api.EventBatch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case b.Snapshot == api.SnapshotBegin:
		m.skipped = append(m.skipped, span{m.newest, b.Index})
		m.jobs, m.within, m.missed, m.index = map[string]bool{}, true, false, 0
	case b.Missed != nil:
		m.skipped = append(m.skipped, span{b.Missed.From - 1, b.Missed.To})
		m.missed = true
	case m.missed && len(b.Events) > 0:
		m.violations = append(m.violations, fmt.Sprintf("the event stream continues with index %d after missed events, without a snapshot", b.Index))
	case b.Snapshot == "" && len(b.Events) > 0 && b.Index <= m.index:
		m.violations = append(m.violations, fmt.Sprintf("the event stream sent index %d after index %d", b.Index, m.index))
	}
	for _, e := range b.Events {
		if e.Deleted {
			delete(m.jobs, e.Key)
		} else {
			m.jobs[e.Key] = true
		}
	}
	if b.Snapshot == "" && len(b.Events) > 0 {
		if m.seen == nil {
			m.seen = map[uint64]bool{}
		}
		m.seen[b.Index] = true
	}
	m.index, m.newest = max(m.index, b.Index), max(m.newest, b.Index)
	if b.Snapshot == api.SnapshotEnd {
		m.within = false
	}
}

// missing lists those of the jobs that the stream has not shown.
func (m *mirror) missing(jobs []string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.within || m.missed {
		return jobs
	}
	return slices.DeleteFunc(slices.Clone(jobs), func(id string) bool { return m.jobs[id] })
}

// unseen lists those of the indexes of writes that the stream omitted, and those that it has not
// reached.
func (m *mirror) unseen(indexes []uint64) (omitted, pending []uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range indexes {
		switch {
		case m.seen[i] || slices.ContainsFunc(m.skipped, func(s span) bool { return i > s.after && i <= s.to }):
		case i <= m.newest && !m.missed:
			omitted = append(omitted, i)
		default:
			pending = append(pending, i)
		}
	}
	return omitted, pending
}

// forget forgets the indexes of messages.
func (m *mirror) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen, m.skipped = nil, nil
}

// extra lists the jobs that the stream shows and the list does not contain.
func (m *mirror) extra(listed map[string]bool) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var extra []string
	for id := range maps.Keys(m.jobs) {
		if !listed[id] {
			extra = append(extra, id)
		}
	}
	slices.Sort(extra)
	return extra
}

// takeViolations returns and forgets the violations so far.
func (m *mirror) takeViolations() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.violations
	m.violations = nil
	return v
}
