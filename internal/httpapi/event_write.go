// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/reeve-run/reeve/api"
)

// sseMedia is the content type of server-sent events.
const sseMedia = "text/event-stream"

// pieceOfEvents is about how many bytes are sent at once. A log entry may be of
// a hundred thousand changes, and a subscriber's memory must not be.
const pieceOfEvents = 32 << 10

// How soon a browser comes back after a break, in milliseconds: not all of them
// at the same moment.
const (
	retryFrom   = 500
	retrySpread = 1500
)

// eventWriter writes the messages of one subscriber.
type eventWriter struct {
	s        *stream
	sse      bool
	progress bool          // signs of life say how far the stream is
	buf      *bytes.Buffer // nil between messages: most streams are quiet

	index uint64     // of the message being written
	n     int        // events of it so far
	held  *toldEvent // the last of them, of server-sent events: is it the last?
}

func newEventWriter(c *call, q eventQuery) *eventWriter {
	kind := lines
	if q.sse {
		kind = sseMedia
	}
	return &eventWriter{s: newStream(c, kind), sse: q.sse, progress: q.progress}
}

// start sends the header.
func (w *eventWriter) start() error {
	if !w.sse {
		return w.s.start()
	}
	return w.s.write(fmt.Appendf(nil, "retry: %d\n\n", retryFrom+rand.IntN(retrySpread)))
}

// alive is a sign of life. Who can read it is told that everything up to index was
// told; clients of Nomad's API take a message without events for a change of
// nothing, unless it is empty.
func (w *eventWriter) alive(index uint64) error {
	switch {
	case w.sse:
		return w.s.write(fmt.Appendf(nil, ": nothing new\nid: %d\n\n", index))
	case !w.progress:
		return w.s.write([]byte("{}\n"))
	}
	return w.s.write(fmt.Appendf(nil, "{\"Index\":%d}\n", index))
}

// mark sends a message that has no events. Of server-sent events, id is what a
// browser comes back with: "" has it begin anew.
func (w *eventWriter) mark(name, id string, m *api.EventBatch) error {
	if !w.sse {
		return w.s.send(m)
	}
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return w.s.write(fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", id, name, data))
}

// add writes an event of a message; the caller has set w.index, and calls end
// after the last.
func (w *eventWriter) add(e *toldEvent) error {
	if w.buf == nil {
		w.buf = buffers.Get().(*bytes.Buffer)
		w.buf.Reset()
	}
	w.n++
	if w.sse {
		held := w.held
		w.held = e
		if held == nil {
			return nil
		}
		return w.sseEvent(held, eventID(w.index, w.n-1))
	}
	if w.n == 1 {
		fmt.Fprintf(w.buf, `{"Index":%d,"Events":[`, w.index)
	} else {
		w.buf.WriteByte(',')
	}
	return w.append(e)
}

func (w *eventWriter) append(e *toldEvent) error {
	line, err := e.line()
	if err != nil {
		return err
	}
	w.buf.Write(line)
	return w.flush(pieceOfEvents)
}

func (w *eventWriter) sseEvent(e *toldEvent, id string) error {
	line, err := e.line()
	if err != nil {
		return err
	}
	if id != "" {
		fmt.Fprintf(w.buf, "id: %s\n", id)
	}
	fmt.Fprintf(w.buf, "event: %s/%s\ndata: ", e.Topic, e.Type)
	w.buf.Write(line)
	w.buf.WriteString("\n\n")
	return w.flush(pieceOfEvents)
}

// end sends the rest of a message, if it has any events.
func (w *eventWriter) end() error {
	if w.buf == nil {
		return nil
	}
	defer w.release()
	if w.sse {
		if err := w.sseEvent(w.held, eventID(w.index, 0)); err != nil {
			return err
		}
	} else {
		w.buf.WriteString("]}\n")
	}
	return w.flush(1)
}

// part sends a piece of a snapshot. Its events have no id: who has not all of
// them has nothing.
func (w *eventWriter) part(index uint64, events []*toldEvent) error {
	if len(events) == 0 {
		return nil
	}
	w.buf = buffers.Get().(*bytes.Buffer)
	w.buf.Reset()
	defer w.release()
	for i, e := range events {
		var err error
		switch {
		case w.sse:
			err = w.sseEvent(e, "")
		default:
			if i > 0 {
				w.buf.WriteByte(',')
			} else {
				fmt.Fprintf(w.buf, `{"Index":%d,"Snapshot":%q,"Events":[`, index, api.SnapshotPart)
			}
			err = w.append(e)
		}
		if err != nil {
			return err
		}
	}
	if !w.sse {
		w.buf.WriteString("]}\n")
	}
	return w.flush(1)
}

// flush sends what there is, once it is at least so much.
func (w *eventWriter) flush(from int) error {
	if w.buf.Len() < from {
		return nil
	}
	err := w.s.write(w.buf.Bytes())
	w.buf.Reset()
	return err
}

// release gives the buffer back.
func (w *eventWriter) release() {
	if w.buf != nil && w.buf.Cap() <= keepBuffer {
		buffers.Put(w.buf)
	}
	w.buf, w.held, w.n = nil, nil, 0
}
