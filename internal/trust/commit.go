// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/reeve-run/reeve/internal/secretfile"
)

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
		text := changes[name]
		if name == sealFile && d.guard != nil {
			if text, err = d.guard.Seal(text); err != nil {
				return err
			}
		}
		if err := d.do("write "+name, func() error { return writeFile(filepath.Join(stage, name), text) }); err != nil {
			return err
		}
	}
	if err := d.do("sync staged files", func() error { return secretfile.SyncDir(stage) }); err != nil {
		return err
	}
	if err := d.do("commit", func() error { return os.Rename(stage, filepath.Join(d.path, nextName)) }); err != nil {
		return err
	}
	committed = true
	if err := d.do("sync commit", func() error { return secretfile.SyncDir(d.path) }); err != nil {
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
	if err := d.do("sync files", func() error { return secretfile.SyncDir(d.path) }); err != nil {
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
