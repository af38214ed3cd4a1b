// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"io"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/docker/engine"
	"github.com/reeve-run/reeve/internal/node/supervise"
)

// The daemon keeps the output of a container, each message with its time. The driver copies it into
// the task's log files, and remembers the time of the last message and how large the files were
// after it. An agent may end between writing a message and remembering it. So the next one asks for
// all messages after the remembered time, and skips as many bytes of them as the files have grown
// since: no message is lost or copied twice.

// saveEvery is the time between two records of the position.
const saveEvery = time.Second

// A logCopy copies the output of a container into files.
type logCopy struct {
	h     *daemonHandle
	files [2]*supervise.Log // of stdout and stderr
	skip  [2]int64          // bytes that the files have already
	last  time.Time         // of the last message
	saved time.Time
}

func (d *daemon) openLogs(l driver.Logs) [2]*supervise.Log {
	return [2]*supervise.Log{supervise.OpenLog(l, l.StdoutPrefix, d.log), supervise.OpenLog(l, l.StderrPrefix, d.log)}
}

// position returns the current end of the log files.
func (d *daemon) position(l driver.Logs) (p logPosition) {
	for n, f := range d.openLogs(l) {
		p.Files[n].File, p.Files[n].Bytes = f.Size()
		f.Close()
	}
	return p
}

// readLogs copies the output until the container has ended, which stopped tells, and no message is left.
func (h *daemonHandle) readLogs(stopped <-chan struct{}) {
	if h.t.Logs.Disabled {
		return
	}
	c := h.newCopy()
	defer c.close()
	for {
		var ended bool
		select {
		case <-stopped:
			ended = true
		default:
		}
		var err error
		if h.r.TTY {
			err = h.d.c.RawLogs(h.d.ctx, h.id, c.last, c.raw)
		} else {
			err = h.d.c.Logs(h.d.ctx, h.id, c.last, c.receive)
		}
		c.save()
		if h.d.ctx.Err() != nil || engine.IsMissing(err) || err == nil && ended {
			return
		}
		if err != nil && !engine.IsUncertain(err) {
			h.d.log.Warn("cannot read the output of a container", "task", h.t.ID, "error", err)
			if ended {
				return
			}
		}
		if !ended && !h.d.pause() {
			return
		}
	}
}

// newCopy opens the files. The output of an earlier agent after the remembered position is skipped.
func (h *daemonHandle) newCopy() *logCopy {
	c := &logCopy{h: h, last: h.r.Logs.Time, files: h.d.openLogs(h.t.Logs)}
	for n, f := range c.files {
		if h.resumed && !h.r.TTY {
			at := h.r.Logs.Files[n]
			c.skip[n] = f.Since(at.File, at.Bytes)
		}
	}
	return c
}

func (c *logCopy) close() {
	for _, f := range c.files {
		f.Close()
	}
}

func (c *logCopy) receive(m engine.Message) {
	if !m.Time.After(c.last) {
		return
	}
	stream := 0
	if m.Stderr {
		stream = 1
	}
	text := m.Text
	n := min(c.skip[stream], int64(len(text)))
	c.skip[stream] -= n
	c.files[stream].Write(text[n:])
	c.last = m.Time
	if c.skip == [2]int64{} && time.Since(c.saved) > saveEvery {
		c.save()
	}
}

// raw receives the output of a terminal, which has no times.
func (c *logCopy) raw(text []byte) {
	c.files[0].Write(text)
	c.last = time.Now()
	if time.Since(c.saved) > saveEvery {
		c.save()
	}
}

// save remembers the position. While messages are skipped, the older position is the true one.
func (c *logCopy) save() {
	if c.skip != [2]int64{} {
		return
	}
	p := logPosition{Time: c.last}
	for n, f := range c.files {
		p.Files[n].File, p.Files[n].Bytes = f.Size()
	}
	if p == c.h.r.Logs {
		return
	}
	c.h.r.Logs, c.saved = p, time.Now()
	if err := c.h.d.records.save(c.h.r); err != nil {
		c.h.d.log.Warn("cannot remember how far the output of a container was read: a restart of the agent may repeat it", "task", c.h.t.ID, "error", err)
	}
}

// copyInput sends the input of a command.
func copyInput(s *engine.Session, e driver.Exec) (int64, error) { return io.Copy(s, e.Stdin) }
