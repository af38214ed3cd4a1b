// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// NodeStream sends a node its allocations: all of them first, then what the
// servers change, as soon as it is committed, until ctx ends or send fails.
func (s *Server) NodeStream(ctx context.Context, nodeID, secret string, send func(*api.NodeAllocations) error) error {
	if _, err := authenticate(s.store.Snapshot(), nodeID, secret); err != nil {
		return err
	}
	st := s.streams.open(nodeID)
	defer s.streams.close(st)
	for {
		batch, err := st.take(ctx)
		if err != nil {
			return err
		}
		var msg *api.NodeAllocations
		if batch.complete {
			snap := s.store.Snapshot()
			st.completed(snap.Index())
			msg = completeMessage(snap, nodeID)
		} else {
			msg = changeMessage(batch)
		}
		if err := send(msg); err != nil {
			return err
		}
	}
}

func completeMessage(snap *state.Snapshot, nodeID string) *api.NodeAllocations {
	m := newMessage(snap.Index())
	m.Complete = true
	for a := range snap.AllocationsByNode(nodeID) {
		m.add(a)
	}
	return &m.NodeAllocations
}

func changeMessage(b streamBatch) *api.NodeAllocations {
	m := newMessage(b.index)
	for _, c := range b.changes {
		if c.alloc == nil {
			m.Removed = append(m.Removed, c.id)
			continue
		}
		m.add(c.alloc)
	}
	return &m.NodeAllocations
}

// message is a NodeAllocations in the making.
type message struct {
	api.NodeAllocations
	jobs map[jobVersion]bool
}

type jobVersion struct {
	api.NamespacedID
	version uint64
}

func newMessage(index uint64) *message {
	return &message{NodeAllocations: api.NodeAllocations{Index: index}, jobs: map[jobVersion]bool{}}
}

// add appends the allocation, and its job unless that is in the message
// already or nothing of it will ever run again.
func (m *message) add(a *api.Allocation) {
	slim := *a
	slim.Job, slim.Metrics = nil, nil
	m.Allocations = append(m.Allocations, &api.NodeAllocation{Allocation: &slim, JobVersion: a.JobVersion()})
	version := jobVersion{a.JobKey(), a.JobVersion()}
	if a.Job != nil && !m.jobs[version] && !a.IsClientTerminal() {
		m.jobs[version] = true
		m.Jobs = append(m.Jobs, a.Job)
	}
}
