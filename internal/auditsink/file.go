// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package auditsink

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/auditlog"
)

// Defaults of a File.
const (
	DefaultRotateBytes    = 100 << 20
	DefaultRotateMaxFiles = 10
)

// File configures a file that takes records.
type File struct {
	Path           string // absolute
	RotateBytes    int64  // size at which the file becomes PATH.1; negative: another program rotates it
	RotateMaxFiles int    // rotated files that are kept
}

// A file is open for appending. If another program renames or removes it, the next delivery begins a new one.
type file struct {
	File
	current *os.File
	info    os.FileInfo
	size    int64
	torn    bool // reports whether the file may end within a line
}

// NewFile returns a receiver that appends to a file, which the first delivery opens.
func NewFile(c File) Receiver {
	if c.RotateBytes == 0 {
		c.RotateBytes = DefaultRotateBytes
	}
	if c.RotateMaxFiles == 0 {
		c.RotateMaxFiles = DefaultRotateMaxFiles
	}
	return &file{File: c}
}

// open opens or creates the file. Where other users may write, they must not lead the records into another
// file, or read them from one of theirs.
func (f *file) open() error {
	opened, err := os.OpenFile(f.Path, os.O_RDWR|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		if errors.Is(err, unix.ELOOP) {
			return fmt.Errorf("%s is a link: remove it, or name the file that it leads to", f.Path)
		}
		return err
	}
	info, err := opened.Stat()
	if err == nil {
		stat, _ := info.Sys().(*syscall.Stat_t)
		switch {
		case !info.Mode().IsRegular():
			err = fmt.Errorf("%s is no regular file: remove it, or name another path", f.Path)
		case stat == nil || int(stat.Uid) != os.Geteuid() || stat.Nlink > 1:
			err = fmt.Errorf("%s belongs to another user, or has a second name: remove it, or name another path", f.Path)
		case info.Mode().Perm()&0o077 != 0:
			err = opened.Chmod(0o600)
		}
	}
	if err != nil {
		return errors.Join(err, opened.Close())
	}
	f.current, f.info, f.size, f.torn = opened, info, info.Size(), false
	if f.size > 0 {
		last := []byte{0}
		_, err := opened.ReadAt(last, f.size-1)
		f.torn = err != nil || last[0] != '\n'
	}
	return nil
}

// Target implements Receiver.
func (f *file) Target() string { return f.Path }

// Deliver implements Receiver.
func (f *file) Deliver(_ context.Context, b auditlog.Batch) error {
	if f.current != nil {
		if info, err := os.Lstat(f.Path); err != nil || !os.SameFile(info, f.info) {
			f.Close()
		}
	}
	if f.current == nil {
		if err := f.open(); err != nil {
			return err
		}
	}
	if f.RotateBytes > 0 && f.size > 0 && f.size+int64(len(b.Lines)) > f.RotateBytes {
		if err := f.rotate(); err != nil {
			return err
		}
	}
	lines := b.Lines
	if f.torn {
		lines = append([]byte{'\n'}, lines...)
	}
	n, err := f.current.Write(lines)
	if err != nil && n > 0 && f.current.Truncate(f.size) == nil {
		n = 0
	}
	f.size += int64(n)
	f.torn = err != nil && (n > 0 || f.torn)
	return err
}

// rotate renames the file and its predecessors, and begins a new one.
func (f *file) rotate() error {
	f.Close()
	for n := f.RotateMaxFiles; n > 0; n-- {
		older, newer := f.Path+"."+strconv.Itoa(n), f.Path
		if n > 1 {
			newer += "." + strconv.Itoa(n-1)
		}
		if err := os.Rename(newer, older); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return f.open()
}

// Close implements Receiver.
func (f *file) Close() {
	if f.current != nil {
		f.current.Close()
		f.current = nil
	}
}
