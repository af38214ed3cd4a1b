// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Maximum numbers of concurrent sessions, each of which costs processes and open files.
const (
	maxSessions      = 512
	maxAllocSessions = 64
)

// execSessions counts the commands that users run beside tasks.
type execSessions struct {
	mu    sync.Mutex
	all   int
	alloc map[string]int // by allocation
	probe time.Duration  // interval of probes; 0: probeInterval
}

// enter adds a session. The caller calls leave at its end.
func (s *execSessions) enter(alloc string) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.all >= maxSessions:
		return nil, api.Errorf(api.CodeUnavailable, "the node runs %d commands of users already: end some of them, and try again", s.all)
	case s.alloc[alloc] >= maxAllocSessions:
		return nil, api.Errorf(api.CodeUnavailable, "allocation %s runs %d commands of users already: end some of them, and try again", api.ShortID(alloc), s.alloc[alloc])
	case s.alloc == nil:
		s.alloc = map[string]int{}
	}
	s.all++
	s.alloc[alloc]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.alloc[alloc]--; s.alloc[alloc] == 0 {
			delete(s.alloc, alloc)
		}
	}, nil
}
