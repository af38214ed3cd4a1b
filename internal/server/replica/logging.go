// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// newRaftLogger forwards raft's log lines to logger, one level lower than raft's own:
// operators need not know about routine elections.
func newRaftLogger(logger *slog.Logger) hclog.Logger {
	l := hclog.NewInterceptLogger(&hclog.LoggerOptions{Output: io.Discard, Level: hclog.Off})
	l.RegisterSink(&logSink{logger: logger, said: map[string]*said{}})
	return l
}

// A logSink drops repetitions: raft says several times a second that a server does not answer.
type logSink struct {
	logger *slog.Logger
	mu     sync.Mutex
	said   map[string]*said // by message and server
}

type said struct {
	last    time.Time
	dropped int // repetitions since
}

const (
	sayAgain = 30 * time.Second // between two equal warnings about a server
	maxSaid  = 256              // remembered warnings
)

// Accept implements hclog.SinkAdapter.
func (s *logSink) Accept(_ string, level hclog.Level, message string, args ...any) {
	to := slog.LevelDebug
	if level >= hclog.Error {
		to = slog.LevelWarn
	}
	if !s.logger.Enabled(context.Background(), to) {
		return
	}
	if to == slog.LevelWarn {
		dropped, say := s.admit(message+" "+serverIn(args), time.Now())
		if !say {
			return
		}
		if dropped > 0 {
			args = append(args, "repetitions", dropped)
		}
	}
	s.logger.Log(context.Background(), to, "raft: "+message, args...)
}

// serverIn returns the server that a line is about.
func serverIn(args []any) string {
	for i := 0; i+1 < len(args); i += 2 {
		if key, ok := args[i].(string); ok && (key == "peer" || key == "id") {
			return fmt.Sprint(args[i+1])
		}
	}
	return ""
}

// admit reports whether a line is to be written, and how many like it were dropped.
func (s *logSink) admit(line string, now time.Time) (dropped int, say bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.said[line]
	if before != nil && now.Sub(before.last) < sayAgain {
		before.dropped++
		return 0, false
	}
	if len(s.said) >= maxSaid {
		clear(s.said)
	}
	s.said[line] = &said{last: now}
	if before != nil {
		dropped = before.dropped
	}
	return dropped, true
}
