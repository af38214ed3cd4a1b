// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/internal/node/beneath"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// A logFile is an output stream that is stored in files PREFIX.0, PREFIX.1, ..., of which the
// highest is the newest. It bounds the size of each file, and removes the oldest ones. It
// opens no file before the first output.
//
// Tasks can write to the directory of the files. So all files are opened with package
// beneath, from a directory that tasks cannot replace. Numbers that a task has used are
// skipped.
type logFile struct {
	root     string // see driver.Logs
	prefix   string
	maxFiles int
	maxBytes int64
	log      *slog.Logger

	f           *os.File
	n           int
	found       bool // reports whether n is the newest file's number
	size        int64
	lastWarning time.Time // last time that a loss of output was logged
}

func newLogFile(l driver.Logs, prefix string, log *slog.Logger) *logFile {
	w := &logFile{root: l.Root, prefix: prefix, maxFiles: l.MaxFiles, maxBytes: l.MaxFileBytes, log: log}
	if w.maxFiles <= 0 {
		w.maxFiles = 10
	}
	if w.maxBytes <= 0 {
		w.maxBytes = 10 << 20
	}
	return w
}

// logs sets the fields of l that newLogFile needs for stream i.
func (w *logFile) logs(i int, l driver.Logs) driver.Logs {
	l.Root, l.MaxFiles, l.MaxFileBytes = w.root, w.maxFiles, w.maxBytes
	*[]*string{&l.StdoutPrefix, &l.StderrPrefix}[i] = w.prefix
	return l
}

// write stores b, or drops it if the disk fails: a task is never blocked by its log.
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
	}
}

// room makes sure that a file is open and not full.
func (w *logFile) room() error {
	if w.f != nil && w.size < w.maxBytes {
		return nil
	}
	w.close()
	dir, err := driver.Logs{Root: w.root, StdoutPrefix: w.prefix}.Dir()
	if err != nil {
		return err
	}
	defer dir.Close()
	if !w.found {
		if err := w.find(dir); err != nil {
			return err
		}
	}
	return w.open(dir)
}

// maxSkips bounds the consecutive numbers that are skipped: a task may have used very many.
const maxSkips = 16

// open opens the newest file with room, and removes the oldest.
func (w *logFile) open(dir *beneath.Dir) error {
	for range maxSkips {
		f, size, err := dir.Append(w.name(w.n), 0o644)
		if err == nil && size < w.maxBytes {
			w.f, w.size = f, size
			return nil
		}
		if err == nil {
			f.Close()
		} else if !errors.Is(err, beneath.ErrOccupied) {
			return err
		}
		if w.n == maxNumber {
			return fmt.Errorf("open a log file after %s, the last number: %w", w.name(w.n), beneath.ErrOccupied)
		}
		w.n++
		if old := w.n - w.maxFiles; old >= 0 {
			dir.Remove(w.name(old)) // fails for a directory that a task created
		}
	}
	return fmt.Errorf("open log file %s, and %d before it: %w", w.name(w.n), maxSkips, beneath.ErrOccupied)
}

func (w *logFile) name(n int) string { return filepath.Base(w.prefix) + "." + strconv.Itoa(n) }

// find finds the number of the newest file, and removes excess old files.
func (w *logFile) find(dir *beneath.Dir) error {
	err := dir.Names(func(name string) { w.n = max(w.n, logNumber(name, filepath.Base(w.prefix))) })
	if err != nil {
		return err
	}
	w.found = true
	return dir.Names(func(name string) {
		if n := logNumber(name, filepath.Base(w.prefix)); n >= 0 && n <= w.n-w.maxFiles {
			dir.Remove(name)
		}
	})
}

// failed logs a loss of output, at a bounded rate, because tasks can cause it. The next
// output tries the file again.
func (w *logFile) failed(err error) {
	w.close()
	if errors.Is(err, os.ErrNotExist) || time.Since(w.lastWarning) < time.Minute {
		return
	}
	w.lastWarning = time.Now()
	level := slog.LevelError
	if errors.Is(err, beneath.ErrOccupied) { // the task caused it
		level = slog.LevelWarn
	}
	w.log.Log(context.Background(), level, "task output is lost", "file", w.prefix, "error", err)
}

func (w *logFile) close() {
	if w.f != nil {
		w.f.Close()
		w.f = nil
	}
}

// maxNumber is the highest number of a log file.
const maxNumber = 1<<31 - 1

// logNumber returns N for a file BASE.N, and -1 for others.
func logNumber(name, base string) int {
	s, ok := strings.CutPrefix(name, base+".")
	if !ok {
		return -1
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > maxNumber || strconv.Itoa(n) != s {
		return -1
	}
	return n
}

// LogFiles returns the files of the log with that prefix, the oldest first.
func LogFiles(prefix string) []string {
	entries, _ := os.ReadDir(filepath.Dir(prefix))
	var numbers []int
	for _, e := range entries {
		if n := logNumber(e.Name(), filepath.Base(prefix)); n >= 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	var files []string
	for _, n := range numbers {
		files = append(files, prefix+"."+strconv.Itoa(n))
	}
	return files
}

// A Log stores an output stream that the supervisor does not see. It belongs to one goroutine.
type Log struct{ f *logFile }

// OpenLog opens the files PREFIX.0, PREFIX.1, ... of l.
func OpenLog(l driver.Logs, prefix string, log *slog.Logger) *Log {
	return &Log{newLogFile(l, prefix, log)}
}

// Write stores b. It drops what the disk cannot take.
func (l *Log) Write(b []byte) { l.f.write(b) }

// Close closes the file. The next output opens it again.
func (l *Log) Close() { l.f.close() }

// Size returns the number of the newest file and its size in bytes.
func (l *Log) Size() (file int, bytes int64) {
	if l.f.room() != nil {
		return 0, 0
	}
	return l.f.n, l.f.size
}

// Since returns the number of bytes that were stored after Size returned its values.
func (l *Log) Since(file int, bytes int64) int64 {
	n, size := l.Size()
	if n == file {
		return max(size-bytes, 0)
	}
	return max(int64(n-file)*l.f.maxBytes-bytes+size, 0)
}
