// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package secretfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ReadExternal reads a file that another program writes, of at most limit bytes. It follows
// links, by which such programs replace certificates, and rejects a file whose mode has a
// forbidden bit.
func ReadExternal(path string, forbidden fs.FileMode, limit int) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a named pipe must not block
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	case info.Mode().Perm()&forbidden != 0:
		return nil, fmt.Errorf("%s has mode %#o, which lets every user of this machine use it: run chmod o-rwx %s", path, info.Mode().Perm(), path)
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(text) > limit {
		err = fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return text, err
}

// ReadExternalToken reads the one token in a file that another program writes. It rejects a file
// that all users of the machine may read.
func ReadExternalToken(path string) (string, error) {
	text, err := ReadExternal(path, 0o007, longestToken)
	if err != nil {
		return "", err
	}
	return tokenIn(text, path)
}

// A Version tells two contents of a path apart without reading them. Its zero value is that of
// a path without a file.
type Version struct {
	modified time.Time
	size     int64
	mode     fs.FileMode
	inode    uint64
}

// VersionOf returns the version of the file that a path leads to.
func VersionOf(path string) Version {
	info, err := os.Stat(path)
	if err != nil {
		return Version{}
	}
	v := Version{modified: info.ModTime(), size: info.Size(), mode: info.Mode()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		v.inode = stat.Ino
	}
	return v
}
