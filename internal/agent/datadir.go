// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/reeve-run/reeve/api"
)

// lockDir creates the data directory and locks it for this process. The kernel releases the
// lock when the process ends.
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
	// Record the holder, for the error of the next process. The record has a fixed length and is
	// written in place, so that it needs no space; a failure of the disk must not prevent the
	// agent from reading its data.
	_, _ = f.WriteAt(fmt.Appendf(nil, "%-19d\n", os.Getpid()), 0)
	return f, nil
}

func unusable(dir string, err error) error {
	var path *fs.PathError
	reason := err.Error()
	if errors.As(err, &path) {
		reason = path.Path + ": " + path.Err.Error()
	}
	return api.Errorf(api.CodeInvalid, "data directory %s cannot be used: %s; make it writable for this user, or choose another with -data-dir", dir, reason)
}
