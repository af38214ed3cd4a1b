// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
	"github.com/reeve-run/reeve/internal/state"
)

// signOfLife is how long a stream says nothing.
const signOfLife = 10 * time.Second

// NodeStream sends a node its allocations until ctx ends or send fails: first all of them, then
// the servers' changes as soon as they are committed. A nil message is a heartbeat of an idle
// stream. The content of a message is invalid after send returns. told is the position of the
// last message that the node received; the zero position has no effect.
func (s *Server) NodeStream(ctx context.Context, nodeID string, told api.Position, send func(*NodeMessage) error) error {
	signal := make(chan struct{}, 1)
	feed, err := s.OpenNodeFeed(nodeID, told, func() {
		select {
		case signal <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return err
	}
	defer feed.Close()
	quiet := time.NewTimer(signOfLife)
	defer quiet.Stop()
	for {
		m := feed.Next()
		for ; m != nil; m = feed.Next() {
			if err := send(m); err != nil {
				return err
			}
			quiet.Reset(signOfLife)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-signal:
		case <-quiet.C:
			quiet.Reset(signOfLife)
			if err := send(nil); err != nil {
				return err
			}
		}
	}
}

// A NodeFeed holds what a node has still to be sent. One goroutine at a time may use it.
type NodeFeed struct {
	server   *Server
	st       *stream
	told     api.Position
	timeline string // that the node was told of
}

// OpenNodeFeed returns the messages for a node, from this server's own state. The first one is
// ready immediately. notify is called when another one is; it must neither block nor use the feed. See
// NodeStream.
func (s *Server) OpenNodeFeed(nodeID string, told api.Position, notify func()) (*NodeFeed, error) {
	if _, err := registered(s.store.Snapshot(), nodeID); err != nil {
		return nil, err
	}
	return &NodeFeed{server: s, st: s.streams.open(nodeID, notify), told: told}, nil
}

// Close ends the feed.
func (f *NodeFeed) Close() { f.server.streams.close(f.st) }

// Next returns the next message; nil if the node has everything.
func (f *NodeFeed) Next() *NodeMessage {
	batch := f.st.take()
	if batch.isEmpty() {
		return nil
	}
	// Each message is a new one: a stream may be quiet for hours after it, and
	// would hold on to allocations as they were then.
	m := &NodeMessage{index: batch.index, texts: f.server.streams.texts}
	snap := f.server.store.Snapshot()
	if batch.complete {
		f.st.completed(snap.Index())
		m.addComplete(snap, f.st.nodeID)
		m.rewound = snap.Lacks(f.told)
	} else {
		m.addChanges(batch.changes)
	}
	if batch.complete || batch.volumes {
		m.hasVolumes, m.volumes = true, slices.Collect(snap.HostVolumesOf(f.st.nodeID))
	}
	if batch.complete || batch.ahead {
		m.addPrefetches(f.server.prefetches.of(f.st.nodeID))
	}
	if now := snap.Timeline(); m.complete || now != f.timeline {
		m.timeline, f.timeline = now, now
	}
	f.told = api.Position{Timeline: f.timeline, Index: m.index} // a restore may remove it from the history
	return m
}

// AppendNext appends the next message in the form of a connection of an agent. It reports
// whether there was one.
func (f *NodeFeed) AppendNext(b []byte, slot uint32) ([]byte, bool, error) {
	m := f.Next()
	if m == nil {
		return b, false, nil
	}
	w, err := m.encode()
	if err != nil {
		return b, false, err
	}
	b, err = nodeproto.AppendToNode(b, slot, w)
	return b, true, err
}

// A NodeMessage is one message of a node's stream. It is written as
// api.NodeAllocations or, for agents, as nodeproto.Message.
type NodeMessage struct {
	complete    bool
	index       uint64
	clusterID   string            // of a complete one
	timeline    string            // of a complete one, and of the first one on another timeline
	rewound     bool              // the history does not have what the node was told
	allocations []*api.Allocation // as they are stored
	jobs        []*api.Job        // of those that run, once each
	removed     []string
	hasVolumes  bool              // volumes has all dynamic volumes of the node
	volumes     []*api.HostVolume // as they are stored
	hasAhead    bool              // ahead has all prefetches of the node
	ahead       []*prefetched

	last  *api.Job // whose job is in jobs already; most follow one of the same
	seen  map[jobVersion]bool
	texts *jobTexts
}

type jobVersion struct {
	api.NamespacedID
	version, createIndex uint64
}

func (m *NodeMessage) addComplete(snap *state.Snapshot, nodeID string) {
	m.complete, m.index, m.clusterID = true, snap.Index(), snap.ClusterID()
	for a := range snap.AllocationsByNode(nodeID) {
		m.add(a)
	}
}

func (m *NodeMessage) addChanges(changes []streamChange) {
	for _, c := range changes {
		if c.alloc == nil {
			m.removed = append(m.removed, c.id)
			continue
		}
		m.add(c.alloc)
	}
}

// add appends the allocation, and its job unless that is in the message
// already or nothing of it will ever run again.
func (m *NodeMessage) add(a *api.Allocation) {
	m.allocations = append(m.allocations, a)
	if a.Job == nil || a.Job == m.last || a.IsClientTerminal() || a.Orphan { // the node has an orphan's job
		return
	}
	m.last = a.Job
	m.addJob(a.Job)
}

func (m *NodeMessage) addPrefetches(list []*prefetched) {
	m.hasAhead, m.ahead = true, list
	for _, f := range list {
		m.addJob(f.job)
	}
}

// addJob appends a job unless it is in the message already.
func (m *NodeMessage) addJob(job *api.Job) {
	version := jobVersion{job.Key(), job.Version, job.CreateIndex}
	if m.seen[version] {
		return
	}
	if m.seen == nil {
		m.seen = map[jobVersion]bool{}
	}
	m.seen[version] = true
	m.jobs = append(m.jobs, job)
}

// API is the message in the form for people and their tools.
func (m *NodeMessage) API() *api.NodeAllocations {
	out := &api.NodeAllocations{Complete: m.complete, Index: m.index, ClusterID: m.clusterID, Timeline: m.timeline, Rewound: m.rewound, Jobs: slices.Clone(m.jobs), Removed: slices.Clone(m.removed), HasVolumes: m.hasVolumes, Volumes: slices.Clone(m.volumes), HasPrefetches: m.hasAhead}
	for _, f := range m.ahead {
		out.Prefetches = append(out.Prefetches, f.prefetch)
	}
	out.Allocations = slices.Grow(out.Allocations, len(m.allocations))
	slim := make([]api.Allocation, len(m.allocations))
	of := make([]api.NodeAllocation, len(m.allocations))
	for i, a := range m.allocations {
		slim[i] = *a
		slim[i].Job, slim[i].Metrics = nil, nil
		of[i] = api.NodeAllocation{Allocation: &slim[i], JobVersion: a.JobVersion()}
		if a.Job != nil {
			of[i].JobCreateIndex = a.Job.CreateIndex
		}
		out.Allocations = append(out.Allocations, &of[i])
	}
	return out
}

// AppendFrame appends the message in the form for agents.
func (m *NodeMessage) AppendFrame(b []byte) ([]byte, error) {
	w, err := m.encode()
	if err != nil {
		return nil, err
	}
	return nodeproto.AppendFrame(b, w)
}

func (m *NodeMessage) encode() (*nodeproto.Message, error) {
	w := &nodeproto.Message{
		Complete: m.complete, Index: m.index, ClusterID: m.clusterID, Timeline: m.timeline, Rewound: m.rewound,
		Allocations: m.allocations, Removed: m.removed, HasVolumes: m.hasVolumes, HasPrefetches: m.hasAhead,
	}
	for _, f := range m.ahead {
		w.Prefetches = append(w.Prefetches, f.text)
	}
	for _, v := range m.volumes {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		w.Volumes = append(w.Volumes, text)
	}
	for _, job := range m.jobs {
		text, err := m.texts.of(job)
		if err != nil {
			return nil, err
		}
		w.Jobs = append(w.Jobs, text)
	}
	return w, nil
}

// jobTexts keeps jobs as JSON: the instances of one job go to many nodes at
// about the same time.
type jobTexts struct {
	mu   sync.Mutex
	text map[*api.Job][]byte
}

// keepJobTexts is how many are kept.
const keepJobTexts = 1024

func newJobTexts() *jobTexts { return &jobTexts{text: map[*api.Job][]byte{}} }

func (t *jobTexts) of(job *api.Job) ([]byte, error) {
	t.mu.Lock()
	text := t.text[job]
	t.mu.Unlock()
	if text != nil {
		return text, nil
	}
	text, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.text) >= keepJobTexts {
		clear(t.text)
	}
	t.text[job] = text
	return text, nil
}
