// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package auditsink

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/auditlog"
	"github.com/reeve-run/reeve/internal/testbed/output"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// A bench is an audit log with numbered records.
type bench struct {
	*auditlog.Log
	dir    string
	added  int
	logged output.Text
}

func newBench(t *testing.T, fileBytes int64) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir()}
	var err error
	if b.Log, err = auditlog.Open(auditlog.Config{Dir: b.dir, Files: 3, FileBytes: fileBytes}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Log.Close(context.Background()) })
	return b
}

// add adds records, and waits until they are written.
func (b *bench) add(t *testing.T, n int) {
	t.Helper()
	for range n {
		b.Add(&api.RequestRecord{ID: auditlog.NewID(), Path: fmt.Sprint(b.added), Status: 200})
		b.added++
	}
	if err := b.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) start(r Receiver) *Sink {
	return Start(Config{
		Name: "siem", Type: "http", Log: b.Log, Dir: b.dir, Receiver: r, pause: time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(&b.logged, nil)),
	})
}

// A pile collects records, by their paths.
type pile struct {
	mu   sync.Mutex
	seen map[string]int
	all  []string
}

func (p *pile) take(t *testing.T, lines []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen == nil {
		p.seen = map[string]int{}
	}
	for line := range bytes.Lines(lines) {
		var r api.RequestRecord
		if err := json.Unmarshal(line, &r); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		p.seen[r.Path]++
		p.all = append(p.all, r.Path)
	}
}

func (p *pile) has(n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.seen) == n
}

// A switchable receiver fails while it is off.
type switchable struct {
	pile
	t   *testing.T
	off bool
}

func (s *switchable) Deliver(_ context.Context, b auditlog.Batch) error {
	s.mu.Lock()
	off := s.off
	s.mu.Unlock()
	if off {
		return fmt.Errorf("it is off")
	}
	s.take(s.t, b.Lines)
	return nil
}

func (s *switchable) turn(off bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.off = off
}

func (s *switchable) Target() string { return "a test" }
func (s *switchable) Close()         {}

func TestACursorSurvivesARestart(t *testing.T) {
	b := newBench(t, 1<<20)
	r := &switchable{t: t}
	b.add(t, 100)
	for range 5 {
		s := b.start(r)
		wait.Until(t, "all records are delivered", func() bool { return r.has(b.added) })
		b.add(t, 50) // possibly while it ends
		s.Close(t.Context())
		b.add(t, 50)
	}
	s := b.start(r)
	defer s.Close(t.Context())
	wait.Until(t, "all records are delivered", func() bool { return r.has(b.added) })
	for i, path := range r.all {
		if path != fmt.Sprint(i) {
			t.Fatalf("record %d is %q", i, path)
		}
	}
	if st := s.Status(); st.WaitingBytes != 0 || st.Gaps != 0 || st.Failures != 0 {
		t.Errorf("status: %+v", st)
	}
}

func TestAFailingSinkIsReported(t *testing.T) {
	b := newBench(t, 1<<20)
	r := &switchable{t: t, off: true}
	s := b.start(r)
	defer s.Close(t.Context())
	b.add(t, 10)
	wait.Until(t, "three attempts", func() bool { return s.Status().Failures >= 3 })
	st := s.Status()
	if st.FailingSince.IsZero() || st.Error != "it is off" || st.WaitingBytes == 0 || st.Records != 0 {
		t.Errorf("status: %+v", st)
	}
	sinks := []*Sink{s}
	if got := Warning(sinks, st.FailingSince.Add(failingAfter-time.Second)); got != "" {
		t.Errorf("a short failure is shown: %s", got)
	}
	if got := Warning(sinks, st.FailingSince.Add(failingAfter)); !strings.Contains(got, "siem does not deliver") || !strings.Contains(got, "reeve operator audit") || strings.Contains(got, "off") {
		t.Errorf("the warning is %q", got)
	}
	if n := strings.Count(b.logged.String(), "cannot deliver"); n != 1 {
		t.Errorf("the failure is logged %d times", n)
	}
	r.turn(false)
	wait.Until(t, "all records are delivered", func() bool { return r.has(10) && s.Status().WaitingBytes == 0 })
	if st := s.Status(); !st.FailingSince.IsZero() || st.Error != "" || st.Records != 10 || Warning(sinks, time.Now().Add(time.Hour)) != "" {
		t.Errorf("status: %+v", st)
	}
}

// TestADeletedFileIsAGap lets the log delete records that were not delivered.
func TestADeletedFileIsAGap(t *testing.T) {
	b := newBench(t, 2000)
	r := &switchable{t: t}
	s := b.start(r)
	defer s.Close(t.Context())
	b.add(t, 5)
	wait.Until(t, "the first records", func() bool { return r.has(5) })
	r.turn(true)
	for range 50 {
		b.add(t, 10)
	}
	wait.Until(t, "the gap is counted", func() bool { return s.Status().Gaps > 0 })
	r.turn(false)
	last := fmt.Sprint(b.added - 1)
	wait.Until(t, "the last record", func() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.seen[last] > 0 })
	if !strings.Contains(b.logged.String(), "missed records") {
		t.Error("the log does not contain the gap")
	}
}

// TestAddNeverWaits adds records while the receiver hangs.
func TestAddNeverWaits(t *testing.T) {
	b := newBench(t, 1<<20)
	hangs := hanging{make(chan struct{}, 1)}
	s := b.start(hangs)
	b.add(t, 1)
	<-hangs.called
	began := time.Now()
	for range 100 {
		b.add(t, 100) // more than the queue of the log
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("10000 records took %s", took)
	}
	if f := b.Figures(); f.Dropped != 0 || f.Written != 10_001 {
		t.Errorf("%+v", f)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Close(ctx)
}

// A hanging receiver answers when its caller gives up.
type hanging struct{ called chan struct{} }

func (h hanging) Deliver(ctx context.Context, _ auditlog.Batch) error {
	select {
	case h.called <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return ctx.Err()
}

func (hanging) Target() string { return "" }
func (hanging) Close()         {}
