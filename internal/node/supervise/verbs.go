// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/driver"
)

// handle handles one request.
func (s *supervisor) handle(c *serverConn, f *frame) (any, error) {
	switch f.Verb {
	case verbHello:
		return helloResponse{
			Protocol: protocolVersion, Version: buildVersion(), PID: os.Getpid(),
			Instance: s.instance, Machine: s.machine,
		}, nil
	case verbWatch:
		return s.watch(c), nil
	case verbStart:
		var r startRequest
		if err := decodeBody(f, &r); err != nil {
			return nil, err
		}
		return s.start(r)
	case verbUpgrade:
		var r upgradeRequest
		if err := decodeBody(f, &r); err != nil {
			return nil, err
		}
		return nil, s.upgrade(r.Exe)
	case verbShutdown:
		var r shutdownRequest
		if err := decodeBody(f, &r); err != nil {
			return nil, err
		}
		s.shutdown(r.Timeout)
		return nil, nil
	}
	var r taskRequest
	if err := decodeBody(f, &r); err != nil {
		return nil, err
	}
	t, err := s.find(r.ID)
	if err != nil {
		return nil, err
	}
	switch f.Verb {
	case verbStatus:
		s.mu.Lock()
		defer s.mu.Unlock()
		return t.status(), nil
	case verbSignal:
		return nil, s.signal(t, unix.Signal(r.Signal))
	case verbStop:
		return nil, s.stop(t, unix.Signal(r.Signal), r.Timeout)
	case verbDestroy:
		return nil, s.destroy(t)
	}
	return nil, fmt.Errorf("the supervisor (protocol %d) does not know the verb %q", protocolVersion, f.Verb)
}

func decodeBody(f *frame, v any) error {
	if err := json.Unmarshal(f.Body, v); err != nil {
		return fmt.Errorf("read the request %q: %w", f.Verb, err)
	}
	return nil
}

func (s *supervisor) find(id string) (*task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tasks[id]; t != nil && !t.starting {
		return t, nil
	}
	return nil, driver.ErrTaskUnknown
}

func (s *supervisor) watch(c *serverConn) watchResponse {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.watching = true
	r := watchResponse{Tasks: make([]Status, 0, len(s.tasks))}
	for _, t := range s.tasks {
		if !t.starting {
			r.Tasks = append(r.Tasks, t.status())
		}
	}
	return r
}

// publish sends a task's status to all clients.
func (s *supervisor) publish(st Status) {
	s.mu.Lock()
	var to []*serverConn
	for c := range s.conns {
		if c.watching {
			to = append(to, c)
		}
	}
	s.watchIdle()
	s.mu.Unlock()
	for _, c := range to {
		c.send(&frame{Verb: verbStatus, Body: encodeBody(st)})
	}
}
