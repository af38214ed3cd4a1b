// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/internal/node/driver"
)

// A logFile is a stream of output kept in files PREFIX.0, PREFIX.1, ... of which
// the highest is the newest. No file grows beyond its bound, and the oldest ones
// are removed. Nothing is open before there is something to write.
type logFile struct {
	prefix   string
	maxFiles int
	maxBytes int64
	log      *slog.Logger

	f       *os.File
	n       int
	size    int64
	failing bool
}

func newLogFile(l driver.Logs, prefix string, log *slog.Logger) *logFile {
	w := &logFile{prefix: prefix, maxFiles: l.MaxFiles, maxBytes: l.MaxFileBytes, log: log}
	if w.maxFiles <= 0 {
		w.maxFiles = 10
	}
	if w.maxBytes <= 0 {
		w.maxBytes = 10 << 20
	}
	return w
}

// logs puts what newLogFile needs, for stream i, into l.
func (w *logFile) logs(i int, l driver.Logs) driver.Logs {
	l.MaxFiles, l.MaxFileBytes = w.maxFiles, w.maxBytes
	*[]*string{&l.StdoutPrefix, &l.StderrPrefix}[i] = w.prefix
	return l
}

// write keeps b, or drops it when the disk refuses: a task is never blocked by
// its log.
func (w *logFile) write(b []byte) {
	for len(b) > 0 {
		if err := w.room(); err != nil {
			w.failed(err)
			return
		}
		n, err := w.f.Write(b[:min(int64(len(b)), w.maxBytes-w.size)])
		w.size += int64(n)
		b = b[n:]
		if err != nil {
			w.failed(err)
			return
		}
		w.failing = false
	}
}

// room makes sure that a file is open and not full.
func (w *logFile) room() error {
	if w.f == nil {
		numbers := logNumbers(w.prefix)
		if len(numbers) > 0 {
			w.n = numbers[len(numbers)-1]
		}
		if err := w.open(); err != nil {
			return err
		}
	}
	for w.size >= w.maxBytes {
		w.close()
		w.n++
		if err := w.open(); err != nil {
			return err
		}
	}
	return nil
}

func (w *logFile) open() error {
	f, err := os.OpenFile(w.prefix+"."+strconv.Itoa(w.n), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	w.f, w.size = f, st.Size()
	for _, n := range logNumbers(w.prefix) {
		if n <= w.n-w.maxFiles {
			os.Remove(w.prefix + "." + strconv.Itoa(n))
		}
	}
	return nil
}

// failed reports the first of a row of failures; the file is tried again with
// the next output.
func (w *logFile) failed(err error) {
	if !w.failing && !errors.Is(err, os.ErrNotExist) {
		w.log.Error("task output is lost", "file", w.prefix, "error", err)
	}
	w.failing = true
	w.close()
}

func (w *logFile) close() {
	if w.f != nil {
		w.f.Close()
		w.f = nil
	}
}

// logNumbers lists the numbers of the files PREFIX.N, ascending.
func logNumbers(prefix string) []int {
	dir, base := filepath.Split(prefix)
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	var numbers []int
	for _, name := range names {
		if s, ok := strings.CutPrefix(name, base+"."); ok {
			if n, err := strconv.Atoi(s); err == nil && n >= 0 {
				numbers = append(numbers, n)
			}
		}
	}
	slices.Sort(numbers)
	return numbers
}

// LogFiles lists the files of the log of that prefix, the oldest first.
func LogFiles(prefix string) []string {
	var files []string
	for _, n := range logNumbers(prefix) {
		files = append(files, prefix+"."+strconv.Itoa(n))
	}
	return files
}
