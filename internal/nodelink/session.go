// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodelink

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
)

// A session is one connection of an agent to a server.
type session struct {
	raw     net.Conn
	address string
	ttl     time.Duration
	reader  *nodeproto.Reader
	done    chan struct{} // closed at the end

	writing sync.Mutex

	mu      sync.Mutex
	err     error                                   // why it ended
	heard   []chan struct{}                         // of heartbeats that wait
	reports map[uint64]chan *nodeproto.ReportResult // by number
}

func newSession(raw net.Conn, address string) *session {
	return &session{
		raw: raw, address: address, reader: nodeproto.NewReader(raw, maxFromServer),
		done: make(chan struct{}), reports: map[uint64]chan *nodeproto.ReportResult{},
	}
}

// read handles the server's messages until the connection ends.
func (s *session) read(receive func(*api.NodeAllocations) error) error {
	var m nodeproto.ToNode
	for {
		m.Reset()
		s.raw.SetReadDeadline(time.Now().Add(maxSilence))
		if err := s.reader.Next(&m); err != nil {
			return fmt.Errorf("the connection to the server at %s ended: %w", s.address, err)
		}
		if m.Failure != nil {
			return m.Failure.AsError()
		}
		if m.Heard {
			s.acknowledged()
		}
		if m.Result != nil {
			s.answered(m.Result)
		}
		if m.Allocations != nil {
			message, err := m.Allocations.Decode()
			if err != nil {
				return fmt.Errorf("read a message of the server at %s: %w", s.address, err)
			}
			if err := receive(message); err != nil {
				return err
			}
		}
	}
}

func (s *session) acknowledged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.heard {
		close(c)
	}
	s.heard = nil
}

func (s *session) answered(r *nodeproto.ReportResult) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.reports[r.Number]; c != nil {
		delete(s.reports, r.Number)
		c <- r
	}
}

// close ends the session. Heartbeats and reports that wait fail with the first error.
func (s *session) close(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
		s.raw.Close()
		close(s.done)
	}
}

func (s *session) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// send writes one message.
func (s *session) send(m *nodeproto.FromNode) error {
	text, err := nodeproto.AppendMessage(nil, m)
	if err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.raw.SetWriteDeadline(time.Now().Add(maxSilence))
	_, err = s.raw.Write(text)
	return err
}

// beat sends a heartbeat, and waits for its acknowledgement.
func (s *session) beat(ctx context.Context) error {
	heard := make(chan struct{})
	s.mu.Lock()
	s.heard = append(s.heard, heard)
	s.mu.Unlock()
	if err := s.send(&nodeproto.FromNode{Beat: true}); err != nil {
		return err
	}
	select {
	case <-heard:
		return nil
	case <-s.done:
		return s.failure()
	case <-ctx.Done():
		return fmt.Errorf("the server at %s does not acknowledge heartbeats: %w", s.address, ctx.Err())
	}
}

// report sends a report, and waits for its result.
func (s *session) report(ctx context.Context, r *nodeproto.Report) (uint64, error) {
	result := make(chan *nodeproto.ReportResult, 1)
	s.mu.Lock()
	s.reports[r.Number] = result
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.reports, r.Number)
		s.mu.Unlock()
	}()
	if err := s.send(&nodeproto.FromNode{Report: r}); err != nil {
		return 0, err
	}
	select {
	case answer := <-result:
		return answer.Index, answer.Failure.AsError()
	case <-s.done:
		return 0, s.failure()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// rank returns the servers, those that failed at the end: the one that failed first before the
// others.
func rank(servers []string, failed map[string]time.Time) []string {
	servers = slices.Clone(servers)
	slices.SortStableFunc(servers, func(a, b string) int { return failed[a].Compare(failed[b]) })
	return servers
}
