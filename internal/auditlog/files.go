// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A file is one file of the log, open for appending.
type file interface {
	io.WriteCloser
	Stat() (os.FileInfo, error)
	Truncate(size int64) error
}

// files are the rotated files of a log: audit-N.log, of which the highest N is being written.
type files struct {
	dir    string
	keep   int
	limit  int64
	create func(path string) (file, error)

	current file
	number  uint64
	size    int64
	torn    bool // reports whether the file may end within a line
}

func appendTo(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
}

func pathOf(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("audit-%08d.log", number))
}

// numbers returns the numbers of the files in a directory, the lowest first.
func numbers(dir string) ([]uint64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []uint64
	for _, e := range entries {
		name, isLog := strings.CutSuffix(strings.TrimPrefix(e.Name(), "audit-"), ".log")
		if n, err := strconv.ParseUint(name, 10, 64); isLog && err == nil && filepath.Base(pathOf(dir, n)) == e.Name() && e.Type().IsRegular() {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, nil
}

// open continues the newest file, or begins the first.
func (f *files) open() error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	all, err := numbers(f.dir)
	if err != nil {
		return err
	}
	f.number = 1
	if len(all) > 0 {
		f.number = all[len(all)-1]
	}
	return f.begin()
}

// begin opens the current file. A process that was killed may have left a part of a line in it.
func (f *files) begin() error {
	current, err := f.create(pathOf(f.dir, f.number))
	if err != nil {
		return err
	}
	info, err := current.Stat()
	if err != nil {
		return errors.Join(err, current.Close())
	}
	f.current, f.size, f.torn = current, info.Size(), info.Size() > 0
	return nil
}

// write appends whole lines, all or none of them.
func (f *files) write(lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	if f.current == nil {
		if err := f.begin(); err != nil {
			return err
		}
	}
	if f.size > 0 && f.size+int64(len(lines)) > f.limit {
		if err := f.rotate(); err != nil {
			return err
		}
	}
	if f.torn {
		lines = append([]byte{'\n'}, lines...) // readers skip empty lines
	}
	n, err := f.current.Write(lines)
	if err == nil || n > 0 && f.current.Truncate(f.size) != nil {
		f.size += int64(n)
		f.torn = err != nil
	}
	return err
}

// rotate begins the next file, and deletes the oldest.
func (f *files) rotate() error {
	err := f.current.Close()
	f.current = nil
	f.number++
	if err = errors.Join(err, f.begin()); err != nil {
		if f.current == nil {
			f.number--
		}
		return err
	}
	all, err := numbers(f.dir)
	if err != nil {
		return nil // the next rotation deletes the files that are too many
	}
	for _, n := range all[:max(0, len(all)-f.keep)] {
		os.Remove(pathOf(f.dir, n))
	}
	return nil
}

func (f *files) close() {
	if f.current != nil {
		f.current.Close()
	}
}
