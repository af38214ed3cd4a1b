// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Defaults and bounds of a Config.
const (
	DefaultFiles  = 10
	DefaultFileMB = 10

	queueLength = 4096 // records that wait for the disk
	batchLength = 256  // records of one write
)

// Config configures a Log.
type Config struct {
	Dir       string // created with mode 0700
	Files     int    // that are kept; at least 2
	FileBytes int64  // size at which the next file begins
	Server    string // name of this server
	Logger    *slog.Logger

	create func(path string) (file, error) // opens a file for appending; nil: on the disk
}

// A Log stores records. Open one, and Close it.
type Log struct {
	config   Config
	queue    chan *api.RequestRecord
	flush    chan chan struct{}
	throttle throttle
	files    files
	failing  bool   // reports whether the last write failed
	lost     uint64 // dropped records that no record counts yet; of the goroutine
	missed   atomic.Uint64
	written  atomic.Uint64
	dropped  atomic.Uint64

	mu        sync.Mutex
	committed Position      // the end of the last line that is completely written
	changed   chan struct{} // closed when committed changes

	stop  context.CancelFunc
	ended chan struct{}
}

// Open opens the files, and starts to write.
func Open(c Config) (*Log, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Files == 0 {
		c.Files = DefaultFiles
	}
	if c.FileBytes == 0 {
		c.FileBytes = DefaultFileMB << 20
	}
	if c.create == nil {
		c.create = appendTo
	}
	l := &Log{config: c, queue: make(chan *api.RequestRecord, queueLength), flush: make(chan chan struct{}), ended: make(chan struct{}), changed: make(chan struct{})}
	l.files = files{dir: c.Dir, keep: c.Files, limit: c.FileBytes, create: c.create}
	if err := l.files.open(); err != nil {
		return nil, api.Errorf(api.CodeInvalid, "open the audit log in %s: %v: make the directory writable for the agent, or disable the log with audit { enabled = false }", c.Dir, err)
	}
	l.commit()
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	go func() {
		defer close(l.ended)
		l.run(ctx)
	}()
	return l, nil
}

// Add stores a record soon. It never waits. The record belongs to the log afterwards.
func (l *Log) Add(r *api.RequestRecord) {
	if r.Status >= 400 && !l.throttle.admit(r) {
		return
	}
	l.put(r)
}

func (l *Log) put(r *api.RequestRecord) {
	select {
	case l.queue <- r:
	default:
		l.dropped.Add(1)
		l.missed.Add(1)
	}
}

// Flush waits until the records that were added before are written, or dropped.
func (l *Log) Flush(ctx context.Context) error {
	done := make(chan struct{})
	select {
	case l.flush <- done:
	case <-l.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-done:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Close writes the queue, and closes the files. It waits for the disk no longer than the context.
func (l *Log) Close(ctx context.Context) error {
	l.stop()
	select {
	case <-l.ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Figures are the numbers of records since the start.
type Figures struct{ Written, Dropped uint64 }

// Figures returns the numbers of records.
func (l *Log) Figures() Figures {
	return Figures{Written: l.written.Load(), Dropped: l.dropped.Load()}
}

func (l *Log) run(ctx context.Context) {
	defer l.files.close()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case r := <-l.queue:
			l.write(r)
		case now := <-tick.C:
			l.summarize(now)
		case done := <-l.flush:
			l.drain()
			close(done)
		case <-ctx.Done():
			l.summarize(time.Now().Add(time.Second))
			l.drain()
			return
		}
	}
}

// summarize counts the failed requests that have no records of their own.
func (l *Log) summarize(now time.Time) {
	for _, r := range l.throttle.roll(now) {
		l.write(r)
	}
	if l.lost > 0 || l.missed.Load() > 0 {
		l.write(nil)
	}
}

func (l *Log) drain() {
	for {
		select {
		case r := <-l.queue:
			l.write(r)
		default:
			return
		}
	}
}

// write writes a record and those that follow it in the queue; nil: only the number of dropped ones.
func (l *Log) write(r *api.RequestRecord) {
	l.lost += l.missed.Swap(0)
	var batch bytes.Buffer
	counted, n := l.lost, 0
	if counted > 0 {
		batch.Write(encode(&api.RequestRecord{ID: NewID(), Time: time.Now().UTC(), Server: l.config.Server, Dropped: int(counted)}))
	}
	for r != nil {
		batch.Write(encode(r))
		if n++; n == batchLength {
			break
		}
		select {
		case r = <-l.queue:
		default:
			r = nil
		}
	}
	if err := l.files.write(batch.Bytes()); err != nil {
		l.lost += uint64(n)
		l.dropped.Add(uint64(n))
		if !l.failing {
			l.config.Logger.Error("audit log cannot be written, and drops records", "dir", l.config.Dir, "error", err)
		}
		l.failing = true
		return
	}
	l.commit()
	l.lost -= counted
	l.written.Add(uint64(n))
	if l.failing {
		l.config.Logger.Info("audit log is written again", "dropped", counted)
	}
	l.failing = false
}

// encode returns the line of a record.
func encode(r *api.RequestRecord) []byte {
	clean(r)
	line, err := json.Marshal(r)
	if err != nil {
		panic(err) // a record consists of texts and numbers
	}
	return append(line, '\n')
}
