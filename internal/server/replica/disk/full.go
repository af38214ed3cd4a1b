// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// SyncError reports a failed sync. The content of the disk is unknown, and a retry would not
// reveal it: the caller must stop.
type SyncError struct {
	Path string
	Err  error
}

// Error names the file and what to do.
func (e *SyncError) Error() string {
	return fmt.Sprintf("sync %s: %v: it is not known what reached the disk, and the server stops rather than guess; check the disk, then start the server again", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *SyncError) Unwrap() error { return e.Err }

// Explain adds to the error of a full disk how much is free below path.
func Explain(fs FS, path string, err error) error {
	if !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) {
		return err
	}
	free, statErr := fs.Free(path)
	if statErr != nil {
		return err
	}
	return fmt.Errorf("%w (%s has %s free)", err, path, size(free))
}

func size(bytes uint64) string {
	switch {
	case bytes >= 10<<30:
		return fmt.Sprintf("%d GB", bytes>>30)
	case bytes >= 10<<20:
		return fmt.Sprintf("%d MB", bytes>>20)
	case bytes >= 10<<10:
		return fmt.Sprintf("%d KB", bytes>>10)
	}
	return fmt.Sprintf("%d bytes", bytes)
}
