// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package auditsink

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/auditlog"
	"github.com/reeve-run/reeve/internal/secretfile"
)

const (
	batchBytes = 256 << 10 // of one delivery

	minPause = time.Second // between two attempts
	maxPause = time.Minute

	failingAfter = 30 * time.Second // after which a failure is shown to people
)

// A Receiver takes records.
type Receiver interface {
	// Deliver takes a batch. After an error, the same records are delivered again.
	Deliver(ctx context.Context, b auditlog.Batch) error
	// Target describes the receiver in messages, without secrets.
	Target() string
	Close()
}

// A pause is the error of a delivery whose receiver asks to wait.
type pause struct {
	error
	wait time.Duration
}

// Config configures a Sink.
type Config struct {
	Name     string // of the sink; a file name
	Type     string
	Log      *auditlog.Log
	Dir      string // of the cursor
	Receiver Receiver
	Logger   *slog.Logger

	pause time.Duration // before the second attempt; 0: minPause
}

// A Sink delivers the records of a log to a receiver. Start one, and Close it.
type Sink struct {
	config Config
	cursor string // path

	mu     sync.Mutex
	at     auditlog.Position
	status api.AuditSink

	stop  context.CancelFunc
	ended chan struct{}
}

// Start begins to deliver records: those after the cursor, or all that the log has.
func Start(c Config) *Sink {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.pause == 0 {
		c.pause = minPause
	}
	s := &Sink{config: c, cursor: filepath.Join(c.Dir, "sink-"+c.Name+".json"), ended: make(chan struct{})}
	s.status = api.AuditSink{Name: c.Name, Type: c.Type, Target: c.Receiver.Target()}
	if text, err := os.ReadFile(s.cursor); err == nil && json.Unmarshal(text, &s.at) != nil {
		s.at = auditlog.Position{} // a damaged cursor repeats records rather than losing them
	}
	if s.at.Offset < 0 {
		s.at.Offset = 0
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go func() {
		defer close(s.ended)
		s.run(ctx)
	}()
	return s
}

// Close ends the sink after one more attempt to deliver the last records, until the context ends.
func (s *Sink) Close(ctx context.Context) {
	s.stop()
	<-s.ended
	for more, err := s.Status().Error == "", error(nil); more && err == nil; {
		more, err = s.deliver(ctx)
	}
	s.config.Receiver.Close()
}

// Status describes the sink.
func (s *Sink) Status() *api.AuditSink {
	s.mu.Lock()
	out, at := s.status, s.at
	s.mu.Unlock()
	out.WaitingBytes = s.config.Log.Behind(at)
	return &out
}

func (s *Sink) run(ctx context.Context) {
	wait := s.config.pause
	for ctx.Err() == nil {
		changed := s.config.Log.Changed()
		more, err := s.deliver(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			asked := wait
			if p, ok := errors.AsType[*pause](err); ok {
				asked = max(wait, p.wait)
			}
			s.failed(err)
			rest(ctx, asked+rand.N(asked/4))
			wait = min(2*wait, maxPause)
		default:
			wait = s.config.pause
			if !more {
				select {
				case <-changed:
				case <-ctx.Done():
				}
			}
		}
	}
}

func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// deliver delivers one batch, and reports whether there was one.
func (s *Sink) deliver(ctx context.Context) (more bool, err error) {
	b, err := s.config.Log.Next(s.at, batchBytes)
	if err != nil {
		return false, err
	}
	if b.Missing {
		s.config.Logger.Error("audit sink missed records: the audit log deleted them before they were delivered", "sink", s.config.Name, "from", s.at, "to", b.From)
		s.mu.Lock()
		s.status.Gaps++
		s.mu.Unlock()
	}
	if b.Records > 0 {
		if err := s.config.Receiver.Deliver(ctx, b); err != nil {
			if b.Missing { // the gap is counted
				s.move(b.From)
			}
			return false, err
		}
	}
	if b.Next == s.at {
		return false, nil
	}
	s.move(b.Next)
	if b.Records > 0 {
		s.delivered(b.Records)
	}
	text, err := json.Marshal(b.Next)
	if err == nil {
		err = secretfile.Write(s.cursor, text)
	}
	if err != nil {
		s.config.Logger.Warn("cursor of an audit sink cannot be written: records are delivered again after a restart", "sink", s.config.Name, "error", err)
	}
	return true, nil
}

func (s *Sink) move(to auditlog.Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = to
}

func (s *Sink) delivered(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.status.FailingSince.IsZero() {
		s.config.Logger.Info("audit sink delivers again", "sink", s.config.Name, "after", time.Since(s.status.FailingSince).Round(time.Second))
	}
	s.status.Records += uint64(n)
	s.status.FailingSince, s.status.Error = time.Time{}, ""
}

func (s *Sink) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Failures++
	s.status.Error = api.Printable(err.Error(), 300)
	if s.status.FailingSince.IsZero() {
		s.status.FailingSince = time.Now().UTC()
		s.config.Logger.Warn("audit sink cannot deliver, and tries again", "sink", s.config.Name, "target", s.status.Target, "error", s.status.Error)
	}
}

// Warning returns a sentence about sinks that fail; "" if all deliver. It is for everyone, and names no
// targets and causes.
func Warning(sinks []*Sink, now time.Time) string {
	for _, s := range sinks {
		s.mu.Lock()
		since := s.status.FailingSince
		s.mu.Unlock()
		if !since.IsZero() && now.Sub(since) >= failingAfter {
			return "the audit sink " + s.config.Name + " does not deliver since " + since.Format(time.RFC3339) + ": `reeve operator audit` names the cause"
		}
	}
	return ""
}
