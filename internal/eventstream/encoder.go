// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"

	"github.com/reeve-run/reeve/api"
)

// Media types of the stream.
const (
	MediaSSE   = "text/event-stream"
	MediaLines = "application/x-ndjson"
)

// pieceSize is the approximate number of bytes per write. A log entry may have a hundred
// thousand changes; the buffer of a subscriber must stay small.
const pieceSize = 32 << 10

// Range of the delay, in milliseconds, after which browsers reconnect. The delay is
// random, so that they do not all reconnect at the same moment.
const (
	minRetry    = 500
	retrySpread = 1500
)

// buffers are shared: most streams are quiet.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooledBuffer is the capacity of the largest buffer that returns to the pool.
const maxPooledBuffer = 1 << 20

// An encoder writes the messages of one subscriber, as JSON lines or as server-sent
// events.
type encoder struct {
	w        io.Writer
	sse      bool
	progress bool          // reports whether heartbeats carry the stream's index
	whole    bool          // reports whether ids within a message repeat all of it; see Query.May
	buf      *bytes.Buffer // nil between messages

	index uint64 // of the current message
	n     int    // number of its events so far
	held  *event // last event of a server-sent message: its id depends on whether another one follows
}

func newEncoder(w io.Writer, q *Query) *encoder {
	return &encoder{w: w, sse: q.SSE, progress: q.Progress, whole: q.May != nil}
}

func (w *encoder) write(p []byte) error {
	_, err := w.w.Write(p)
	return err
}

// start sends the header.
func (w *encoder) start() error {
	if !w.sse {
		return w.write(nil)
	}
	return w.write(fmt.Appendf(nil, "retry: %d\n\n", minRetry+rand.IntN(retrySpread)))
}

// heartbeat sends a sign of life: every event up to index has been sent. Clients of
// Nomad's API accept an empty message only.
func (w *encoder) heartbeat(index uint64) error {
	switch {
	case w.sse:
		return w.write(fmt.Appendf(nil, ": nothing new\nid: %d\n\n", index))
	case !w.progress:
		return w.write([]byte("{}\n"))
	}
	return w.write(fmt.Appendf(nil, "{\"Index\":%d}\n", index))
}

// mark sends a message without events. A browser that reconnects sends the id of the last
// server-sent event; with "" it starts again.
func (w *encoder) mark(name, id string, m *api.EventBatch) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if !w.sse {
		return w.write(append(data, '\n'))
	}
	return w.write(fmt.Appendf(nil, "id: %s\nevent: %s\ndata: %s\n\n", id, name, data))
}

// begin starts a message with the events of an index.
func (w *encoder) begin(index uint64) { w.index, w.n = index, 0 }

// skip counts an event of the message that the subscriber has already.
func (w *encoder) skip() { w.n++ }

// add writes an event of the message. The caller calls end after the last one.
func (w *encoder) add(e *event) error {
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
		if w.whole {
			return w.addSSE(held, wholeID(w.index))
		}
		return w.addSSE(held, formatID(w.index, w.n-1))
	}
	if w.n == 1 {
		fmt.Fprintf(w.buf, `{"Index":%d,"Events":[`, w.index)
	} else {
		w.buf.WriteByte(',')
	}
	return w.addJSON(e)
}

func (w *encoder) addJSON(e *event) error {
	line, err := e.encode()
	if err != nil {
		return err
	}
	w.buf.Write(line)
	return w.flush(pieceSize)
}

func (w *encoder) addSSE(e *event, id string) error {
	line, err := e.encode()
	if err != nil {
		return err
	}
	if id != "" {
		fmt.Fprintf(w.buf, "id: %s\n", id)
	}
	fmt.Fprintf(w.buf, "event: %s/%s\ndata: ", e.Topic, e.Type)
	w.buf.Write(line)
	w.buf.WriteString("\n\n")
	return w.flush(pieceSize)
}

// end completes a message if it has events.
func (w *encoder) end() error {
	if w.buf == nil {
		return nil
	}
	defer w.release()
	if w.sse {
		if err := w.addSSE(w.held, formatID(w.index, 0)); err != nil {
			return err
		}
	} else {
		w.buf.WriteString("]}\n")
	}
	return w.flush(1)
}

// part sends a part of a snapshot, or, if snapshot is "", events that belong to no single
// index. They have no id, because a subscriber cannot resume between them.
func (w *encoder) part(index uint64, snapshot string, events []*event) error {
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
			err = w.addSSE(e, "")
		default:
			switch {
			case i > 0:
				w.buf.WriteByte(',')
			case snapshot == "":
				fmt.Fprintf(w.buf, `{"Index":%d,"Events":[`, index)
			default:
				fmt.Fprintf(w.buf, `{"Index":%d,"Snapshot":%q,"Events":[`, index, snapshot)
			}
			err = w.addJSON(e)
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

// flush sends the buffer if it holds at least size bytes.
func (w *encoder) flush(size int) error {
	if w.buf.Len() < size {
		return nil
	}
	err := w.write(w.buf.Bytes())
	w.buf.Reset()
	return err
}

// release returns the buffer to the pool.
func (w *encoder) release() {
	if w.buf != nil && w.buf.Cap() <= maxPooledBuffer {
		buffers.Put(w.buf)
	}
	w.buf, w.held, w.n = nil, nil, 0
}
