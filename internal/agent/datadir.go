// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/reeve-run/reeve/api"
)

// lockDir makes the data directory and takes it for this process. The lock is
// the kernel's: it ends with the process, however that ends.
func lockDir(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, unusable(dir, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, unusable(dir, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(f.Name())
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, api.Errorf(api.CodeUnavailable, "data directory %s is used by another agent (process %s): stop it, or choose another directory with -data-dir", dir, strings.TrimSpace(string(holder)))
		}
		return nil, unusable(dir, err)
	}
	if err := writeHolder(f); err != nil {
		f.Close()
		return nil, unusable(dir, err)
	}
	return f, nil
}

// writeHolder says who holds the lock, for the error that the next one gets.
func writeHolder(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func unusable(dir string, err error) error {
	var path *fs.PathError
	reason := err.Error()
	if errors.As(err, &path) {
		reason = path.Path + ": " + path.Err.Error()
	}
	return api.Errorf(api.CodeInvalid, "data directory %s cannot be used: %s; make it writable for this user, or choose another with -data-dir", dir, reason)
}
