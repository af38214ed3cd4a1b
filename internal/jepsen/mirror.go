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
	index      uint64 // of the newest message
	within     bool   // reports whether the stream is in a snapshot
	streams    int    // that a fault ended
	violations []string
}

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
	m.within = false
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
		m.jobs, m.within, m.index = map[string]bool{}, true, 0
	case b.Missed != nil:
		m.violations = append(m.violations, fmt.Sprintf("the event stream with snapshots reports missed events from %d to %d without a snapshot", b.Missed.From, b.Missed.To))
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
	m.index = max(m.index, b.Index)
	if b.Snapshot == api.SnapshotEnd {
		m.within = false
	}
}

// missing lists those of the jobs that the stream has not shown.
func (m *mirror) missing(jobs []string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.within {
		return jobs
	}
	return slices.DeleteFunc(slices.Clone(jobs), func(id string) bool { return m.jobs[id] })
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
