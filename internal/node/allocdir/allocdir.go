// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package allocdir lays out the directories of allocations on a node:
//
//	ALLOC/alloc/{data,logs,tmp}   shared by the group's tasks
//	ALLOC/TASK/{local,tmp}        the task's own
//	SECRETS/ALLOC/TASK            the task's secrets, on a memory file system when
//	                              the agent is root; ALLOC/TASK/secrets points there
//
// Secrets lie outside ALLOC, so nothing that is confined to ALLOC (as the file
// API is) can read them, whatever links a task makes.
package allocdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/reeve-run/reeve/internal/node/driver"
)

// Tree holds the directories of all allocations of a node.
type Tree struct {
	root    string // DATA/alloc
	secrets string // see secretsDir
	busy    chan struct{}
}

// builders bounds how many directories are made at once: a file system makes
// them one after the other anyway, and a thousand threads that wait for it
// are only in the way.
const builders = 4

// Open prepares the tree below dataDir.
func Open(dataDir string) (*Tree, error) {
	abs, err := filepath.Abs(dataDir)
	if err != nil {
		return nil, fmt.Errorf("find the data directory: %w", err)
	}
	t := &Tree{root: filepath.Join(abs, "alloc"), busy: make(chan struct{}, builders)}
	if err := makeDir(t.root, 0o711); err != nil {
		return nil, err
	}
	t.secrets = secretsDir(abs)
	if err := makeDir(t.secrets, 0o711); err != nil {
		return nil, err
	}
	return t, nil
}

// Close gives back what no allocation needs: the place for secrets, if it is
// empty.
func (t *Tree) Close() { releaseSecrets(t.secrets) }

// Root is the directory of one allocation.
func (t *Tree) Root(alloc string) string { return filepath.Join(t.root, alloc) }

// Base is the directory that holds all allocations' directories.
func (t *Tree) Base() string { return t.root }

// LogDir is where an allocation's tasks' output goes.
func (t *Tree) LogDir(alloc string) string { return filepath.Join(t.root, alloc, "alloc", "logs") }

// Task names the directories of a task without touching them.
func (t *Tree) Task(alloc, task string) driver.Dir {
	own := filepath.Join(t.root, alloc, task)
	return driver.Dir{
		Alloc:   filepath.Join(t.root, alloc, "alloc"),
		Task:    own,
		Local:   filepath.Join(own, "local"),
		Secrets: filepath.Join(t.secrets, alloc, task),
		Tmp:     filepath.Join(own, "tmp"),
	}
}

// Build creates the directories of a task, and those it shares, for the user
// who is to run it. A task without a root of its own finds its secrets by a
// link beside local. Build may be repeated.
func (t *Tree) Build(alloc, task string, owner Owner, link bool) error {
	t.busy <- struct{}{}
	defer func() { <-t.busy }()
	d := t.Task(alloc, task)
	shared := []string{d.Alloc, filepath.Join(d.Alloc, "data"), filepath.Join(d.Alloc, "logs"), filepath.Join(d.Alloc, "tmp")}
	if err := makeDir(t.Root(alloc), 0o755); err != nil {
		return err
	}
	for _, dir := range shared {
		if err := makeDir(dir, 0o777); err != nil {
			return err
		}
	}
	if err := makeDir(d.Task, 0o755); err != nil {
		return err
	}
	for _, own := range []struct {
		path string
		mode os.FileMode
	}{{d.Local, 0o755}, {d.Tmp, 0o777 | os.ModeSticky}} {
		if err := makeDir(own.path, own.mode); err != nil {
			return err
		}
		if err := owner.take(own.path); err != nil {
			return err
		}
	}
	if err := t.buildSecrets(d, owner); err != nil || !link {
		return err
	}
	if err := os.Symlink(d.Secrets, filepath.Join(d.Task, "secrets")); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("link the secrets directory: %w", err)
	}
	return nil
}

func (t *Tree) buildSecrets(d driver.Dir, owner Owner) error {
	if err := makeDir(filepath.Dir(d.Secrets), 0o711); err != nil {
		return err
	}
	if err := makeDir(d.Secrets, 0o700); err != nil {
		return err
	}
	return owner.take(d.Secrets)
}

// Remove deletes everything of an allocation.
func (t *Tree) Remove(alloc string) error {
	t.busy <- struct{}{}
	defer func() { <-t.busy }()
	return errors.Join(os.RemoveAll(filepath.Join(t.secrets, alloc)), os.RemoveAll(t.Root(alloc)))
}

// RemoveSecrets deletes an ended allocation's secrets.
func (t *Tree) RemoveSecrets(alloc string) error {
	return os.RemoveAll(filepath.Join(t.secrets, alloc))
}

// List names the allocations that have a directory.
func (t *Tree) List() ([]string, error) {
	entries, err := os.ReadDir(t.root)
	if err != nil {
		return nil, fmt.Errorf("list the allocations' directories: %w", err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// makeDir creates one directory with exactly that mode, whatever the umask.
func makeDir(path string, mode os.FileMode) error {
	err := os.Mkdir(path, mode)
	switch {
	case errors.Is(err, fs.ErrExist):
		if info, statErr := os.Lstat(path); statErr != nil || !info.IsDir() {
			return fmt.Errorf("create directory %s: something that is not a directory is in its place", path)
		}
		return nil
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(path), 0o711); err != nil {
			return fmt.Errorf("create directory: %w", err)
		}
		return makeDir(path, mode)
	case err != nil:
		return fmt.Errorf("create directory: %w", err)
	}
	if mode == mode.Perm()&^umask() {
		return nil
	}
	if err := os.Chmod(path, mode); err != nil {
		return fmt.Errorf("create directory: %w", err)
	}
	return nil
}

// umask is what the process takes away from the modes of new files. It is read
// and not set: setting is the only other way to learn it, and not for one
// goroutine alone.
var umask = sync.OnceValue(func() os.FileMode {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return os.ModePerm
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "Umask:"); ok {
			if mask, err := strconv.ParseUint(strings.TrimSpace(rest), 8, 32); err == nil {
				return os.FileMode(mask)
			}
		}
	}
	return os.ModePerm
})
