// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodelink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

const (
	ttl      = 10 * time.Second
	nodeID   = "11111111-2222-3333-4444-555555555555"
	stranger = "99999999-2222-3333-4444-555555555555"
)

// A leader is the leader that all servers of a test reach.
type leader struct {
	mu       sync.Mutex
	down     bool
	index    uint64
	heard    map[string]time.Time
	messages int
	refused  map[string]error
	reports  []*nodeproto.PassedReport
	batches  int
}

func newLeader() *leader {
	return &leader{index: 7, heard: map[string]time.Time{}, refused: map[string]error{}}
}

func (l *leader) Heard(ctx context.Context, m *nodeproto.Heartbeats) (*nodeproto.HeartbeatsResult, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil, api.Errorf(api.CodeUnavailable, "the leader does not answer")
	}
	l.messages++
	result := &nodeproto.HeartbeatsResult{Index: l.index}
	for i, packed := range m.Nodes {
		id := nodeproto.UnpackID(packed)
		if err := l.refused[id]; err != nil {
			result.Rejected = append(result.Rejected, &nodeproto.Rejection{Position: uint32(i), Failure: nodeproto.FailureOf(err)})
			continue
		}
		l.heard[id] = time.Now()
	}
	return result, nil
}

func (l *leader) Report(ctx context.Context, m *nodeproto.Reports) (*nodeproto.ReportsResult, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil, api.Errorf(api.CodeUnavailable, "the leader does not answer")
	}
	l.batches++
	result := &nodeproto.ReportsResult{}
	for _, r := range m.Reports {
		l.index++
		l.reports = append(l.reports, r)
		result.Results = append(result.Results, &nodeproto.ReportResult{Number: r.Number, Index: l.index})
	}
	return result, nil
}

func (l *leader) setDown(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = down
}

func (l *leader) refuse(node string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused[node] = err
}

// sent returns the number of messages.
func (l *leader) sent() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.messages
}

func (l *leader) lastHeard(node string) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heard[node]
}

// A testServer is a server with its own state, whose index applied is.
type testServer struct {
	*Server
	t      *testing.T
	leader *leader
	accept chan net.Conn
	peer   Peer

	mu      sync.Mutex
	applied uint64
	moved   chan struct{}
	feeds   map[string][]*testFeed
}

// newTestServer runs a server until the end of the test.
func newTestServer(t *testing.T, l *leader) *testServer {
	t.Helper()
	s := &testServer{t: t, leader: l, accept: make(chan net.Conn), peer: Peer{Node: nodeID}, applied: 7, moved: make(chan struct{}), feeds: map[string][]*testFeed{}}
	s.Server = NewServer(Config{
		Identify: func(net.Conn) (Peer, error) { return s.peer, nil }, Removed: func(string) bool { return false },
		Heard: l.Heard, Report: l.Report, Await: s.await, Open: s.open, TTL: ttl,
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx, s)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return s
}

func (s *testServer) Accept() (net.Conn, error) {
	conn, ok := <-s.accept
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (s *testServer) Close() error {
	close(s.accept)
	return nil
}

func (s *testServer) Addr() net.Addr { return nil }

// dial connects to the server.
func (s *testServer) dial() net.Conn {
	near, far := net.Pipe()
	s.accept <- far
	return near
}

func (s *testServer) await(ctx context.Context, index uint64) error {
	for {
		s.mu.Lock()
		there, moved := s.applied >= index, s.moved
		s.mu.Unlock()
		if there {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// apply moves the state of the server.
func (s *testServer) apply(index uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applied = index
	close(s.moved)
	s.moved = make(chan struct{})
}

func (s *testServer) open(node string, told api.Position, notify func()) (Feed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &testFeed{notify: notify, told: told}
	f.put(s.applied, true)
	s.feeds[node] = append(s.feeds[node], f)
	return f, nil
}

// feed returns the newest feed of a node.
func (s *testServer) feed(node string) *testFeed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.feeds[node]); n > 0 {
		return s.feeds[node][n-1]
	}
	return nil
}

type testFeed struct {
	notify func()
	told   api.Position

	mu      sync.Mutex
	pending []*nodeproto.Message
	closed  bool
}

func (f *testFeed) put(index uint64, complete bool) {
	f.mu.Lock()
	f.pending = append(f.pending, &nodeproto.Message{Index: index, Complete: complete, Timeline: "t1"})
	f.mu.Unlock()
	if !complete {
		f.notify()
	}
}

func (f *testFeed) AppendNext(b []byte, slot uint32) ([]byte, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.pending) == 0 {
		return b, false, nil
	}
	m := f.pending[0]
	f.pending = f.pending[1:]
	b, err := nodeproto.AppendToNode(b, slot, m)
	return b, true, err
}

func (f *testFeed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
}

func (f *testFeed) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// An agent is a client of the servers of a test.
type agent struct {
	*Client
	servers map[string]*testServer

	mu   sync.Mutex
	got  []string // "complete 7" or "8"
	ends []error
}

func newAgent(servers ...*testServer) *agent {
	a := &agent{servers: map[string]*testServer{}}
	var names []string
	for i, s := range servers {
		names = append(names, fmt.Sprint("s", i+1))
		a.servers[names[i]] = s
	}
	a.Client = NewClient(func(_ context.Context, address string) (net.Conn, error) {
		if s := a.servers[address]; s != nil {
			return s.dial(), nil
		}
		return nil, errors.New("connection refused")
	}, func() []string { return names }, "mark")
	return a
}

// run streams until ctx ends, as the agent of a node does.
func (a *agent) run(ctx context.Context) {
	told := api.Position{}
	for ctx.Err() == nil {
		err := a.Stream(ctx, nodeID, told, func(m *api.NodeAllocations) error {
			text := fmt.Sprint(m.Index)
			if m.Complete {
				text = "complete " + text
			}
			told = api.Position{Timeline: "t1", Index: m.Index}
			a.mu.Lock()
			a.got = append(a.got, text)
			a.mu.Unlock()
			return nil
		})
		a.mu.Lock()
		a.ends = append(a.ends, err)
		a.mu.Unlock()
		pause(ctx, 50*time.Millisecond)
	}
}

// messages returns what the agent received.
func (a *agent) messages() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return fmt.Sprint(a.got)
}

// beats sends heartbeats until ctx ends, as the agent of a node does.
func (a *agent) beats(ctx context.Context) {
	for ctx.Err() == nil {
		asking, cancel := context.WithTimeout(ctx, ttl/2)
		_, _ = a.Heartbeat(asking)
		cancel()
		pause(ctx, ttl/3)
	}
}

// inBubble runs a test in virtual time, with a context that ends before its goroutines must have.
func inBubble(t *testing.T, test func(t *testing.T, ctx context.Context)) {
	bubble.Test(t, func(t *testing.T) {
		test(t, t.Context())
	})
}
