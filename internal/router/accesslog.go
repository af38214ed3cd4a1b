// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"bufio"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"time"
)

// An accessLog writes a line for each request, or for a sample of them. It buffers
// lines for at most a second.
type accessLog struct {
	path   string
	format string
	sample float64

	mu   sync.Mutex
	file *os.File
	out  *bufio.Writer
	line []byte
}

func openAccessLog(path, format string, sample float64) (*accessLog, error) {
	l := &accessLog{path: path, format: format, sample: sample}
	if path == "-" {
		l.file = os.Stdout
	} else if err := l.reopen(); err != nil {
		return nil, err
	}
	l.out = bufio.NewWriterSize(l.file, 32<<10)
	return l, nil
}

func (l *accessLog) reopen() (err error) {
	l.file, err = os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o640)
	return err
}

// run flushes once a second, and opens a new file after a rotation.
func (l *accessLog) run(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			l.mu.Lock()
			l.out.Flush()
			if l.path != "-" {
				l.file.Close()
			}
			l.mu.Unlock()
			return
		case <-tick.C:
			l.flush()
		}
	}
}

func (l *accessLog) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out.Flush() != nil {
		l.out.Reset(l.file) // because a bufio.Writer keeps its error after the disk has room again
	}
	if l.path == "-" {
		return
	}
	now, err := os.Stat(l.path)
	ours, ourErr := l.file.Stat()
	if err == nil && ourErr == nil && os.SameFile(now, ours) {
		return
	}
	old := l.file
	if l.reopen() != nil {
		l.file = old // continue with the renamed file
		return
	}
	old.Close()
	l.out.Reset(l.file)
}

// wants reports whether to log a request.
func (l *accessLog) wants() bool { return l.sample >= 1 || rand.Float64() < l.sample }

// write writes the line of a request.
func (l *accessLog) write(rec *record, took time.Duration) {
	if !rec.logged {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.format == AccessCombined {
		l.line = appendCombined(l.line[:0], rec)
	} else {
		l.line = appendJSON(l.line[:0], rec, took)
	}
	l.out.Write(l.line)
}

// appendCombined appends a line in Apache's combined format, followed by the
// request id.
func appendCombined(b []byte, rec *record) []byte {
	b = append(append(b, rec.client...), " - - ["...)
	b = rec.begun.AppendFormat(b, "02/Jan/2006:15:04:05 -0700")
	b = append(b, "] "...)
	b = strconv.AppendQuote(b, rec.method+" "+rec.target+" "+rec.proto)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(rec.status), 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, rec.out, 10)
	b = append(b, ' ')
	b = strconv.AppendQuote(b, orDash(rec.referer))
	b = append(b, ' ')
	b = strconv.AppendQuote(b, orDash(rec.agent))
	b = append(append(b, ' '), rec.id...)
	return append(b, '\n')
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func appendJSON(b []byte, rec *record, took time.Duration) []byte {
	text := func(name, v string) {
		if v == "" {
			return
		}
		quoted, _ := json.Marshal(v)
		b = append(append(append(append(b, ",\""...), name...), "\":"...), quoted...)
	}
	number := func(name string, n int64) {
		b = append(append(append(b, ",\""...), name...), "\":"...)
		b = strconv.AppendInt(b, n, 10)
	}
	b = append(b, "{\"time\":\""...)
	b = rec.begun.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z")
	b = append(b, '"')
	text("request_id", rec.id)
	text("client", rec.client)
	text("protocol", rec.proto)
	text("method", rec.method)
	text("host", rec.host)
	text("path", rec.target)
	number("status", int64(rec.status))
	number("bytes_in", rec.in)
	number("bytes_out", rec.out)
	number("duration_us", took.Microseconds())
	if i := rec.instance; i != nil {
		text("job", i.job)
		text("alloc", i.alloc)
		text("instance", i.address)
		number("attempts", int64(rec.attempts))
	}
	text("user_agent", rec.agent)
	text("referer", rec.referer)
	text("error", rec.why)
	if rec.truncated {
		b = append(b, ",\"truncated\":true"...)
	}
	return append(b, "}\n"...)
}
