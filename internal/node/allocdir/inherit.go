// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Inherit moves the data of an ended allocation to its replacement: the shared data
// directory, and the local directory of each task that both have. Inherit may be repeated:
// it skips directories that were moved, and keeps data that the new allocation has.
func (t *Tree) Inherit(from, to string, tasks []string) error {
	t.busy <- struct{}{}
	defer func() { <-t.busy }()
	if _, err := os.Lstat(t.Root(from)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := makeDir(t.Root(to), 0o755); err != nil {
		return err
	}
	old, new := t.Task(from, ""), t.Task(to, "")
	if err := makeDir(new.Alloc, 0o777); err != nil {
		return err
	}
	errs := []error{hand(filepath.Join(old.Alloc, "data"), filepath.Join(new.Alloc, "data"))}
	for _, task := range tasks {
		old, new := t.Task(from, task), t.Task(to, task)
		if info, err := os.Lstat(old.Local); err != nil || !info.IsDir() {
			continue
		}
		if err := makeDir(new.Task, 0o755); err != nil {
			return err
		}
		errs = append(errs, hand(old.Local, new.Local))
	}
	return errors.Join(errs...)
}

// hand moves a directory to a path that does not exist or is an empty directory. It moves
// neither links nor files.
func hand(from, to string) error {
	if info, err := os.Lstat(from); err != nil || !info.IsDir() {
		return nil
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil // the existing data is newer
	}
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("move the data of the allocation before: %w", err)
	}
	return nil
}
