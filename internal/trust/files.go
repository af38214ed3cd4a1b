// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Files of an identity.
const (
	memberFile = "member.json"
	certFile   = "cert.pem"
	keyFile    = "key.pem"
	rootsFile  = "roots.pem"
	sealFile   = "server.key"
)

var fileNames = []string{memberFile, certFile, keyFile, rootsFile, sealFile}

const (
	lockName    = "lock"
	nextName    = "next"   // directory of a committed change whose files are not in place yet
	stagePrefix = "stage." // directories of changes that were not committed

	maxFileSize = 64 << 10
)

// files are the contents of an identity's files by name.
type files map[string][]byte

// A Guard seals the text of the seal key's file, and opens it. A stale text should be stored again.
type Guard interface {
	Seal(text []byte) ([]byte, error)
	Open(file []byte) (text []byte, stale bool, err error)
}

// A directory holds the files of an identity on disk.
type directory struct {
	path  string
	step  func(name string) error // called before each step of a change; tests make it fail
	guard Guard                   // of the seal key; nil: its file has it in clear
}

// locked calls f while no other process reads or changes the directory, after it finished
// what a crashed process began.
func (d directory) locked(f func() error) error {
	if err := checkMode(d.path, 0o022); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(d.path, lockName), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if err := d.recover(); err != nil {
		return err
	}
	return f()
}

// read returns the files that exist. They are stale if the seal key should be stored again.
func (d directory) read() (found files, stale bool, err error) {
	found = files{}
	for _, name := range fileNames {
		text, err := readFile(filepath.Join(d.path, name), name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && name == sealFile && d.guard != nil {
			if text, stale, err = d.guard.Open(text); err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
		}
		if err != nil {
			return nil, false, err
		}
		found[name] = text
	}
	return found, stale, nil
}

func readFile(path, name string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	private := fs.FileMode(0o022) // nobody else may replace what this member trusts
	if name == keyFile || name == sealFile {
		private = 0o077
	}
	info, err := f.Stat()
	if err == nil {
		err = checkInfo(path, info, private)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err == nil && len(text) > maxFileSize {
		err = fmt.Errorf("%s has more than %d bytes", path, maxFileSize)
	}
	return text, err
}

// checkMode checks that other users cannot do what the mode's bits permit.
func checkMode(path string, forbidden fs.FileMode) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return checkInfo(path, info, forbidden)
}

func checkInfo(path string, info fs.FileInfo, forbidden fs.FileMode) error {
	mode, remedy := info.Mode().Perm(), "600"
	if info.IsDir() {
		remedy = "700"
	}
	switch uid := ownerOf(info); {
	case mode&forbidden&0o022 != 0:
		return fmt.Errorf("%s has mode %#o, and other users can change it: run chmod %s %s, and if they may have done so, remove the directory and join again", path, mode, remedy, path)
	case mode&forbidden != 0:
		return fmt.Errorf("%s has mode %#o, and other users can read the secret key: run chmod %s %s, and if they may have done so, remove the directory and join again", path, mode, remedy, path)
	case uid != 0 && uid != os.Geteuid():
		return fmt.Errorf("%s belongs to user %d: run chown %d %s", path, uid, os.Geteuid(), path)
	}
	return nil
}

// ownerOf returns the user who owns a file.
func ownerOf(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return os.Geteuid()
}
