// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
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

// A directory holds the files of an identity on disk.
type directory struct {
	path string
	step func(name string) error // called before each step of a change; tests make it fail
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

// read returns the files that exist.
func (d directory) read() (files, error) {
	found := files{}
	for _, name := range fileNames {
		text, err := readFile(filepath.Join(d.path, name), name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found[name] = text
	}
	return found, nil
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

// inodeOf returns the number of a file on its disk.
func inodeOf(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}

// commit replaces files in one atomic step. The rename of the staged directory is the moment
// of the change; recover finishes the rest after a crash. The caller holds the lock.
func (d directory) commit(changes files) error {
	stage, err := os.MkdirTemp(d.path, stagePrefix+"*")
	if err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed {
			_ = d.do("discard", func() error { return os.RemoveAll(stage) }) // or recover removes it
		}
	}()
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if err := d.do("write "+name, func() error { return writeFile(filepath.Join(stage, name), changes[name]) }); err != nil {
			return err
		}
	}
	if err := d.do("sync staged files", func() error { return syncDir(stage) }); err != nil {
		return err
	}
	if err := d.do("commit", func() error { return os.Rename(stage, filepath.Join(d.path, nextName)) }); err != nil {
		return err
	}
	committed = true
	if err := d.do("sync commit", func() error { return syncDir(d.path) }); err != nil {
		return err
	}
	return d.apply()
}

// recover finishes a committed change, and removes those that were not committed.
func (d directory) recover() error {
	if err := d.apply(); err != nil {
		return err
	}
	stale, err := filepath.Glob(filepath.Join(d.path, stagePrefix+"*"))
	if err != nil {
		return err
	}
	for _, path := range stale {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// apply moves the files of a committed change into place. It can be repeated.
func (d directory) apply() error {
	next := filepath.Join(d.path, nextName)
	entries, err := os.ReadDir(next)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !slices.Contains(fileNames, e.Name()) {
			return fmt.Errorf("%s is not a file of this program: remove it", filepath.Join(next, e.Name()))
		}
		if err := d.do("move "+e.Name(), func() error {
			return os.Rename(filepath.Join(next, e.Name()), filepath.Join(d.path, e.Name()))
		}); err != nil {
			return err
		}
	}
	if err := d.do("sync files", func() error { return syncDir(d.path) }); err != nil {
		return err
	}
	return d.do("end", func() error { return os.Remove(next) })
}

func (d directory) do(name string, f func() error) error {
	if d.step != nil {
		if err := d.step(name); err != nil {
			return err
		}
	}
	if err := f(); err != nil {
		return fmt.Errorf("%s in %s: %w", name, d.path, err)
	}
	return nil
}

func writeFile(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
