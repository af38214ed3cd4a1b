// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
)

const (
	// maxBeatParts bounds the parts in which the nodes of a trunk send their heartbeats.
	maxBeatParts = 30
	// agentMark is the mark of all simulated agents.
	agentMark = "sim"

	dialTimeout   = 5 * time.Second
	redialDelay   = 100 * time.Millisecond
	maxSilence    = 30 * time.Second
	maxFromServer = 1 << 30 // size of the largest message of a server, in bytes
	readBuffer    = 16 << 10
)

// A trunk is one TLS connection to a server, which many simulated nodes share: each has a slot.
// When the connection breaks, the trunk connects to the next server, and greets it for all of its
// nodes again.
type trunk struct {
	run     *run
	first   int            // position of its first server
	parts   int            // number of parts in which its nodes send their heartbeats
	running sync.WaitGroup // goroutines that greet and send reports

	// writing is held while slots are assigned and messages are written, because the server
	// numbers slots in the order of their greetings. It is locked before mu.
	writing sync.Mutex

	mu       sync.Mutex
	raw      net.Conn // nil while there is none
	sessions []*session
	slots    []*session // of raw; nil: the slot has ended
}

// openTrunks gives each node a trunk.
func (r *run) openTrunks() {
	for part := range slices.Chunk(r.nodes, r.options.Links) {
		t := &trunk{run: r, first: len(r.trunks), parts: min(len(part), maxBeatParts)}
		r.trunks = append(r.trunks, t)
		for _, n := range part {
			n.trunk = t
		}
	}
}

// serve keeps the trunk connected until ctx ends.
func (t *trunk) serve(ctx context.Context) {
	defer t.running.Wait()
	servers := t.run.member.servers
	for i := t.first; ctx.Err() == nil; i++ {
		err := t.connect(ctx, servers[i%len(servers)])
		t.mu.Lock()
		used := len(t.sessions) > 0
		t.mu.Unlock()
		if used { // servers close connections without nodes
			t.run.count(nil, err, ctx)
		}
		select {
		case <-time.After(redialDelay):
		case <-ctx.Done():
		}
	}
}

// connect keeps one connection until it breaks.
func (t *trunk) connect(ctx context.Context, address string) error {
	raw, err := t.run.member.dial(ctx, address)
	if err != nil {
		return err
	}
	defer raw.Close()
	defer context.AfterFunc(ctx, func() { raw.Close() })()
	t.mu.Lock()
	t.raw, t.slots = raw, nil
	sessions := slices.Clone(t.sessions)
	t.mu.Unlock()
	beating, cancel := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	helpers.Go(func() { t.greet(sessions...) }) // the server's answers are read meanwhile
	helpers.Go(func() { t.beat(beating) })
	err = t.read(ctx, raw)
	raw.Close()
	cancel()
	helpers.Wait()
	t.writing.Lock()
	t.mu.Lock()
	t.raw, t.slots = nil, nil
	for _, s := range t.sessions {
		s.slot, s.welcome = noSlot, false
	}
	t.mu.Unlock()
	t.writing.Unlock()
	return fmt.Errorf("the connection to the server at %s ended: %w", address, err)
}

// add gives a node a slot.
func (t *trunk) add(s *session) {
	t.mu.Lock()
	t.sessions = append(t.sessions, s)
	connected := t.raw != nil
	t.mu.Unlock()
	if connected {
		t.greet(s)
	}
}

// remove ends a node's slot. The server hears no more of the node, and what it sends is ignored.
func (t *trunk) remove(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.sessions, s); i >= 0 {
		t.sessions = slices.Delete(t.sessions, i, i+1)
	}
	t.release(s)
}

// greet greets the server for nodes without a slot.
func (t *trunk) greet(sessions ...*session) {
	t.writing.Lock()
	defer t.writing.Unlock()
	t.mu.Lock()
	raw := t.raw
	var b []byte
	for _, s := range sessions {
		if raw == nil || s.slot != noSlot || !slices.Contains(t.sessions, s) {
			continue
		}
		s.slot = len(t.slots)
		t.slots = append(t.slots, s)
		b, _ = nodeproto.AppendMessage(b, &nodeproto.FromNode{Slot: uint32(s.slot), Hello: &nodeproto.Hello{Node: nodeproto.PackID(s.node.self.ID), Agent: agentMark}})
	}
	t.mu.Unlock()
	write(raw, b)
}

// write writes messages. The reader of the connection notices that it is broken.
func write(raw net.Conn, b []byte) {
	if raw == nil || len(b) == 0 {
		return
	}
	raw.SetWriteDeadline(time.Now().Add(maxSilence))
	if _, err := raw.Write(b); err != nil {
		raw.Close()
	}
}

// beat sends the nodes' heartbeats until ctx ends: those of a part of the nodes at a time.
func (t *trunk) beat(ctx context.Context) {
	pause := t.run.ttl / 3 / time.Duration(t.parts)
	select {
	case <-time.After(rand.N(pause)): // connections that begin together do not beat together
	case <-ctx.Done():
		return
	}
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for part := 0; ; part = (part + 1) % t.parts {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		t.writing.Lock()
		t.mu.Lock()
		var b []byte
		for slot := part; slot < len(t.slots); slot += t.parts {
			if s := t.slots[slot]; s != nil && s.welcome {
				b, _ = nodeproto.AppendMessage(b, &nodeproto.FromNode{Slot: uint32(slot), Beat: true})
			}
		}
		raw := t.raw
		t.mu.Unlock()
		write(raw, b)
		t.writing.Unlock()
	}
}

// report sends a report of a node, or keeps it until the server has accepted the node. One report
// of a node is in flight at a time.
func (t *trunk) report(s *session, allocs []*api.Allocation) {
	content, err := nodeproto.EncodeReport(allocs)
	if err != nil {
		t.answer(s, err)
		return
	}
	t.mu.Lock()
	s.content = content
	t.mu.Unlock()
	t.sendReport(s)
}

// sendReport sends the report that waits, if there is one and the server has accepted the node.
func (t *trunk) sendReport(s *session) {
	t.writing.Lock()
	defer t.writing.Unlock()
	t.mu.Lock()
	raw := t.raw
	var b []byte
	if s.welcome && s.content != nil {
		s.number++
		b, _ = nodeproto.AppendMessage(nil, &nodeproto.FromNode{Slot: uint32(s.slot), Report: &nodeproto.Report{Number: s.number, Session: s.mark, Content: s.content}})
	}
	t.mu.Unlock()
	write(raw, b)
}

// answer tells a node the result of its report.
func (t *trunk) answer(s *session, err error) {
	t.run.reports.Add(1)
	give := func() {
		select {
		case s.acks <- err:
		case <-s.done:
		}
	}
	if err == nil {
		give()
		return
	}
	t.run.failed(err)
	time.AfterFunc(redialDelay, give)
}

// read handles the server's messages until the connection breaks.
func (t *trunk) read(ctx context.Context, raw net.Conn) error {
	var m nodeproto.ToNode
	r := nodeproto.NewReader(bufio.NewReaderSize(raw, readBuffer), maxFromServer)
	for {
		m.Reset()
		raw.SetReadDeadline(time.Now().Add(maxSilence))
		if err := r.Next(&m); err != nil {
			return err
		}
		t.mu.Lock()
		var s *session
		if int(m.Slot) < len(t.slots) {
			s = t.slots[m.Slot]
		}
		t.mu.Unlock()
		if s == nil {
			continue
		}
		if err := t.receive(ctx, s, &m); err != nil {
			return err
		}
	}
}

// receive handles one message for a node. An error ends the connection of all nodes.
func (t *trunk) receive(ctx context.Context, s *session, m *nodeproto.ToNode) error {
	if err := m.Failure.AsError(); err != nil {
		if api.CodeOf(err) != api.CodeNotFound {
			return err
		}
		t.end(s)
		t.running.Go(func() { t.register(ctx, s) })
		return nil
	}
	if m.Heard {
		t.run.heartbeats.Add(1)
	}
	if m.Welcome != nil {
		t.mu.Lock()
		s.welcome = s.slot == int(m.Slot)
		resend := s.welcome && s.content != nil
		t.mu.Unlock()
		if resend {
			t.running.Go(func() { t.sendReport(s) }) // a write may wait for this reader
		}
	}
	if m.Result != nil {
		t.mu.Lock()
		known := s.content != nil && m.Result.Number == s.number
		if known {
			s.content = nil
		}
		t.mu.Unlock()
		if known {
			t.answer(s, m.Result.Failure.AsError())
		}
	}
	if m.Allocations != nil {
		message, err := t.run.decode(m.Allocations)
		if err != nil {
			return err
		}
		t.run.messages.Add(1)
		select {
		case s.inbox <- message:
		case <-s.done:
		}
	}
	return nil
}

// end ends the slot of a session.
func (t *trunk) end(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.release(s)
}

// release frees the slot of a session. The caller holds mu.
func (t *trunk) release(s *session) {
	if s.slot != noSlot {
		t.slots[s.slot] = nil
	}
	s.slot, s.welcome = noSlot, false
}

// register registers a node that the servers do not know any more, and greets again.
func (t *trunk) register(ctx context.Context, s *session) {
	_, err := s.node.nodes.Register(ctx, s.node.self)
	t.run.count(&t.run.registrations, err, ctx)
	if err == nil {
		t.greet(s)
	}
}

// noSlot is the slot of a session without one.
const noSlot = -1

// decode decodes a message of a server. Nodes share the jobs that they receive: each one's text is
// decoded once.
func (r *run) decode(m *nodeproto.NodeAllocations) (*api.NodeAllocations, error) {
	texts := m.JobsJson
	m.JobsJson = nil
	message, err := m.Decode()
	if err != nil {
		return nil, fmt.Errorf("read a message of a server: %w", err)
	}
	for _, text := range texts {
		job, err := r.decoded.job(text)
		if err != nil {
			return nil, err
		}
		message.Jobs = append(message.Jobs, job)
	}
	return message, nil
}

// decodedJobs holds the jobs that nodes received, by the digest of their text.
type decodedJobs struct {
	seed maphash.Seed
	jobs sync.Map // uint64 -> *api.Job
}

func (d *decodedJobs) job(text []byte) (*api.Job, error) {
	key := maphash.Bytes(d.seed, text)
	if job, ok := d.jobs.Load(key); ok {
		return job.(*api.Job), nil
	}
	job := new(api.Job)
	if err := json.Unmarshal(text, job); err != nil {
		return nil, fmt.Errorf("decode a job: %w", err)
	}
	d.jobs.Store(key, job)
	return job, nil
}
