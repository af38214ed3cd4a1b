// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package joblogs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

const (
	// maxFrame is the maximum length of a frame of a node, in bytes: a node sends pieces of 64 KiB, in base64.
	maxFrame = 256 << 10
	// overlap is how much of the end of a task's output is read again after a connection failed.
	overlap = 4 << 20
	// retryPause is the pause before a follower asks a node again.
	retryPause = time.Second
)

// A place is the end of what was sent of a task's output.
type place struct {
	file   string
	offset int64
}

// before reports whether a place is before another one. The file with the highest number is the newest.
func (p place) before(q place) bool {
	n, m := numberOf(p.file), numberOf(q.file)
	return n < m || n == m && p.offset < q.offset
}

// numberOf returns the number that ends the name of a rotated file.
func numberOf(file string) int {
	n, err := strconv.Atoi(file[strings.LastIndexByte(file, '.')+1:])
	if err != nil {
		return -1
	}
	return n
}

// source sends the output of one task. It returns when there is no more.
type source struct {
	Source
	q       *Query
	open    Open
	running func(id string) bool
	send    func(*api.JobLogFrame) error
	at      place // what was sent
	overlap place // the end of what is read again after a connection failed; no file: nothing is
}

// run returns an error if the reader of the stream is gone.
func (s *source) run(ctx context.Context) error {
	told := ""
	for {
		err := s.read(ctx)
		var gone *readerGone
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &gone):
			return gone.err
		case err == nil:
			return s.tell(&api.JobLogFrame{Event: api.LogsEnd})
		}
		// The same reason is told once.
		if reason := err.Error(); reason != told {
			told = reason
			if err := s.tell(&api.JobLogFrame{Event: api.LogsFailed, Error: reason}); err != nil {
				return err
			}
		}
		if !s.q.Follow || !s.running(s.Alloc.ID) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(retryPause):
		}
	}
}

// read reads from the node until its stream ends: with nil, regularly.
func (s *source) read(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q := *s.q
	if s.at.file != "" {
		q.FromEnd, q.Offset, s.overlap = true, overlap, s.at
	}
	body, err := s.open(ctx, s.Source, &q)
	if err != nil {
		return err
	}
	defer body.Close()
	if s.at.file == "" {
		if err := s.tell(&api.JobLogFrame{Event: api.LogsBegin}); err != nil {
			return &readerGone{err}
		}
	}
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 4<<10), maxFrame)
	for lines.Scan() {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		var f api.StreamFrame
		if err := json.Unmarshal(text, &f); err != nil {
			return fmt.Errorf("the node sent something that is no frame: %w", err)
		}
		if err := s.pass(&f); err != nil {
			return &readerGone{err}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("the stream of the node ended early: %w", err)
	}
	return nil
}

// pass sends what is new of a frame.
func (s *source) pass(f *api.StreamFrame) error {
	end := place{f.File, f.Offset}
	switch {
	case f.FileEvent != "":
		return s.tell(&api.JobLogFrame{File: f.File, Offset: f.Offset, Event: f.FileEvent})
	case len(f.Data) == 0:
		return nil
	case s.overlap.file != "" && !s.overlap.before(end):
		return nil // sent before the connection failed
	}
	data := f.Data
	if s.overlap.file != "" && s.overlap.file == f.File {
		if start := f.Offset - int64(len(data)); start < s.overlap.offset {
			data = data[s.overlap.offset-start:]
		}
	}
	s.at, s.overlap = end, place{}
	return s.tell(&api.JobLogFrame{File: f.File, Offset: f.Offset, Data: data})
}

// tell sends a frame with the name of its source.
func (s *source) tell(f *api.JobLogFrame) error {
	f.Allocation, f.Instance, f.Task, f.Type = s.Alloc.ID, InstanceOf(s.Alloc), s.Task, s.Type
	f.Time = time.Now().UnixNano()
	return s.send(f)
}

// readerGone is an error of sending, as opposed to one of the node.
type readerGone struct{ err error }

func (e *readerGone) Error() string { return e.err.Error() }

// Open opens the output of a task on its node: frames, one a line.
type Open func(ctx context.Context, s Source, q *Query) (io.ReadCloser, error)
