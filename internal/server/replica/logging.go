// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"context"
	"io"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// newRaftLogger forwards raft's log lines to logger, one level lower than raft's own:
// operators need not know about routine elections.
func newRaftLogger(logger *slog.Logger) hclog.Logger {
	l := hclog.NewInterceptLogger(&hclog.LoggerOptions{Output: io.Discard, Level: hclog.Off})
	l.RegisterSink(&logSink{logger})
	return l
}

type logSink struct {
	logger *slog.Logger
}

// Accept implements hclog.SinkAdapter.
func (s *logSink) Accept(_ string, level hclog.Level, message string, args ...any) {
	to := slog.LevelDebug
	if level >= hclog.Error {
		to = slog.LevelWarn
	}
	if !s.logger.Enabled(context.Background(), to) {
		return
	}
	s.logger.Log(context.Background(), to, "raft: "+message, args...)
}
