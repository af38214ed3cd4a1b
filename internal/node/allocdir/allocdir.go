// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package allocdir lays out the directories of allocations on a node:
//
//	ALLOC/alloc/{data,logs,tmp}   shared by the group's tasks
//	ALLOC/TASK/{local,tmp}        the task's own
//	SECRETS/ALLOC/TASK            the task's secrets, a memory file system of its own when
//	                              the agent is root; ALLOC/TASK/secrets points there
//
// Secrets lie outside ALLOC, so code that is confined to ALLOC, such as the file API, cannot
// read them through links that a task makes.
package allocdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/reeve-run/reeve/internal/node/beneath"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// Tree holds the directories of all allocations of a node.
type Tree struct {
	root     string        // DATA/alloc
	secrets  string        // see secretsDir
	inMemory bool          // secrets are on a memory file system
	busy     chan struct{} // directories are created or removed
	writes   chan struct{} // files are written into directories that exist
}

// builders bounds the number of directories that are created concurrently: file systems
// serialize their creation, so more threads would only wait.
const builders = 4

// writers bounds the number of files that are written concurrently. They do not wait for the
// directories of other allocations: a task with its directories would start after the last of them.
const writers = 4

// Open prepares the tree below dataDir.
func Open(dataDir string) (*Tree, error) {
	abs, err := filepath.Abs(dataDir)
	if err != nil {
		return nil, fmt.Errorf("find the data directory: %w", err)
	}
	t := &Tree{root: filepath.Join(abs, "alloc"), busy: make(chan struct{}, builders), writes: make(chan struct{}, writers)}
	if err := makeDir(t.root, 0o711); err != nil {
		return nil, err
	}
	t.secrets = secretsDir(abs)
	t.inMemory = t.secrets != filepath.Join(abs, "secrets")
	if err := makeDir(t.secrets, 0o711); err != nil {
		return nil, err
	}
	return t, nil
}

// Close releases the place for secrets if it is empty.
func (t *Tree) Close() { releaseSecrets(t.secrets) }

// Root returns the directory of an allocation.
func (t *Tree) Root(alloc string) string { return filepath.Join(t.root, alloc) }

// Base returns the directory that holds all allocations' directories.
func (t *Tree) Base() string { return t.root }

// LogDir returns the directory of the output of an allocation's tasks.
func (t *Tree) LogDir(alloc string) string { return filepath.Join(t.root, alloc, "alloc", "logs") }

// Task returns the directories of a task. It creates nothing.
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

// A Layout describes the directories of a task.
type Layout struct {
	Owner     Owner // the user that runs the task
	Link      bool  // reports whether a link beside local leads to the secrets: for a task without a root of its own
	SecretsMB int   // size of the directory of secrets; 0: DefaultSecretsMB
}

// Build creates the directories of a task, and those that it shares. Build may be repeated, and other
// tasks of the group may be running.
func (t *Tree) Build(alloc, task string, l Layout) error {
	t.busy <- struct{}{}
	defer func() { <-t.busy }()
	d := t.Task(alloc, task)
	if err := makeDir(t.Root(alloc), 0o755); err != nil {
		return err
	}
	root, err := beneath.Open(t.Root(alloc))
	if err != nil {
		return fmt.Errorf("open the allocation's directory: %w", err)
	}
	defer root.Close()
	shared, err := root.Make("alloc", 0o777)
	if err != nil {
		return err
	}
	defer shared.Close()
	own, err := root.Make(task, 0o755)
	if err != nil {
		return err
	}
	defer own.Close()
	for _, dir := range []struct {
		in    *beneath.Dir
		name  string
		mode  os.FileMode
		owner Owner
	}{
		{shared, "data", 0o777, Owner{}},
		{shared, "logs", 0o777 | os.ModeSticky, Owner{}}, // a task may add files, but not remove the supervisor's
		{shared, "tmp", 0o777, Owner{}},
		{own, "local", 0o755, l.Owner},
		{own, "tmp", 0o777 | os.ModeSticky, l.Owner},
	} {
		if err := makeOwned(dir.in, dir.name, dir.mode, dir.owner); err != nil {
			return err
		}
	}
	if err := t.buildSecrets(d, l); err != nil || !l.Link {
		return err
	}
	return own.Link(d.Secrets, "secrets")
}

// makeOwned creates a directory inside of one that a task may control.
func makeOwned(in *beneath.Dir, name string, mode os.FileMode, owner Owner) error {
	dir, err := in.Make(name, mode)
	if err != nil {
		return err
	}
	defer dir.Close()
	return owner.take(dir)
}

func (t *Tree) buildSecrets(d driver.Dir, l Layout) error {
	if err := t.checkSecrets(); err != nil {
		return err
	}
	of := filepath.Dir(d.Secrets)
	if err := makeDir(of, 0o711); err != nil {
		return err
	}
	if t.inMemory {
		return mountTask(d.Secrets, l)
	}
	in, err := beneath.Open(of)
	if err != nil {
		return fmt.Errorf("open the allocation's secrets: %w", err)
	}
	defer in.Close()
	return makeOwned(in, filepath.Base(d.Secrets), 0o700, l.Owner)
}

// Remove deletes an allocation's directories.
func (t *Tree) Remove(alloc string) error {
	t.busy <- struct{}{}
	defer func() { <-t.busy }()
	return errors.Join(t.RemoveSecrets(alloc), removeAll(t.root, alloc))
}

// RemoveSecrets deletes an ended allocation's secrets.
func (t *Tree) RemoveSecrets(alloc string) error {
	if err := unmountTasks(filepath.Join(t.secrets, alloc)); err != nil {
		return err
	}
	return removeAll(t.secrets, alloc)
}

// removeAll deletes a directory of the tree, which tasks may have filled with anything.
func removeAll(dir, name string) error {
	in, err := beneath.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	return in.RemoveAll(name)
}

// List returns the ids of the allocations that have a directory of any kind.
func (t *Tree) List() ([]string, error) {
	var names []string
	for _, dir := range []string{t.root, t.secrets} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("list the allocations' directories: %w", err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// makeDir creates a directory with exactly that mode, regardless of the umask. No task can write
// to its parent.
func makeDir(path string, mode os.FileMode) error {
	parent, err := beneath.Open(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o711); err != nil {
			return fmt.Errorf("create directory: %w", err)
		}
		return makeDir(path, mode)
	}
	if err != nil {
		return fmt.Errorf("create directory: %w", err)
	}
	defer parent.Close()
	return makeOwned(parent, filepath.Base(path), mode, Owner{})
}
