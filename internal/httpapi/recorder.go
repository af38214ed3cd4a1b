// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"io"
	"sync"
)

// errNotRecorded is the error of a reader that needs a part of a body that was not kept.
var errNotRecorded = errors.New("the body is too large to be sent again")

// A recorder keeps the body of a request, so that the request can be sent to another server
// after the first one has received a part of it. It reads from the caller only what a reader
// asks for, and keeps at most limit bytes.
type recorder struct {
	limit int64

	mu    sync.Mutex
	from  io.Reader
	kept  []byte
	read  int64 // bytes read from the caller
	ended error // io.EOF, or the error of the caller's connection
}

func newRecorder(from io.Reader, limit int64) *recorder { return &recorder{from: from, limit: limit} }

// reader returns a reader of the whole body. Closing it does not close the caller's body.
func (rec *recorder) reader() io.ReadCloser { return &recordReader{rec: rec} }

// canRepeat reports whether another reader can read the whole body.
func (rec *recorder) canRepeat() bool {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return rec.read == int64(len(rec.kept))
}

// readAt reads bytes from a position of the body.
func (rec *recorder) readAt(p []byte, at int64) (int, error) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	switch {
	case at < int64(len(rec.kept)):
		return copy(p, rec.kept[at:]), nil
	case at < rec.read:
		return 0, errNotRecorded
	case rec.ended != nil:
		return 0, rec.ended
	}
	n, err := rec.from.Read(p)
	if rec.read == int64(len(rec.kept)) && rec.read+int64(n) <= rec.limit {
		rec.kept = append(rec.kept, p[:n]...)
	}
	rec.read += int64(n)
	rec.ended = err
	if n > 0 {
		return n, nil
	}
	return 0, err
}

// A recordReader is one reading of a body. A transport may still read while it is closed.
type recordReader struct {
	rec *recorder

	mu     sync.Mutex
	at     int64
	closed bool
}

func (r *recordReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	at, closed := r.at, r.closed
	r.mu.Unlock()
	if closed {
		return 0, errors.New("the request ended")
	}
	n, err := r.rec.readAt(p, at)
	r.mu.Lock()
	r.at += int64(n)
	r.mu.Unlock()
	return n, err
}

func (r *recordReader) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	return nil
}
