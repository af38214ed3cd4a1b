// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
)

// tailBytes bounds the end of the log that an agent keeps in memory.
const tailBytes = 512 << 10

// A logTail keeps the last lines of the log. It implements io.Writer.
type logTail struct {
	mu   sync.Mutex
	text []byte
}

// Write appends whole lines.
func (l *logTail) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if over := len(l.text) + len(line) - tailBytes; over > 0 {
		// Half of it goes at once, so that few writes copy.
		from := min(max(over, tailBytes/2), len(l.text))
		if end := bytes.IndexByte(l.text[from:], '\n'); end >= 0 {
			from += end + 1
		} else {
			from = len(l.text)
		}
		l.text = append(l.text[:0], l.text[from:]...)
	}
	l.text = append(l.text, line[:min(len(line), tailBytes)]...)
	return len(line), nil
}

// bytes returns the lines.
func (l *logTail) bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.text)
}

// A tee is a log handler that writes to two.
type tee struct{ first, second slog.Handler }

func (t tee) Enabled(ctx context.Context, level slog.Level) bool { return t.first.Enabled(ctx, level) }

func (t tee) Handle(ctx context.Context, r slog.Record) error {
	return errors.Join(t.first.Handle(ctx, r), t.second.Handle(ctx, r.Clone()))
}

func (t tee) WithAttrs(attrs []slog.Attr) slog.Handler {
	return tee{t.first.WithAttrs(attrs), t.second.WithAttrs(attrs)}
}

func (t tee) WithGroup(name string) slog.Handler {
	return tee{t.first.WithGroup(name), t.second.WithGroup(name)}
}

// withTail returns a logger that also writes to a tail.
func withTail(log *slog.Logger, tail *logTail) *slog.Logger {
	return slog.New(tee{log.Handler(), slog.NewTextHandler(tail, &slog.HandlerOptions{Level: slog.LevelDebug})})
}
