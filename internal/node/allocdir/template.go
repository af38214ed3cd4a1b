// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

// WithIDs returns the owner with other ids; -1 keeps an id.
func (o Owner) WithIDs(uid, gid int) Owner {
	if os.Geteuid() != 0 || uid < 0 && gid < 0 {
		return o
	}
	if uid >= 0 {
		o.uid = uid
	}
	if gid >= 0 {
		o.gid = gid
	}
	o.set = true
	return o
}

// WriteTemplate writes a rendered template to a file. The path is relative to the task's directory; below "alloc",
// to the directory that the group's tasks share. The file changes in one step. Links and files that a task made can
// neither redirect the write nor block it.
func (t *Tree) WriteTemplate(alloc, task, file string, content []byte, mode fs.FileMode, owner Owner) error {
	t.writes <- struct{}{}
	defer func() { <-t.writes }()
	if err := t.writeTemplate(alloc, task, file, content, mode, owner); err != nil {
		return fmt.Errorf("write %s: %w", file, t.explainFull(alloc, task, file, err))
	}
	return nil
}

func (t *Tree) writeTemplate(alloc, task, file string, content []byte, mode fs.FileMode, owner Owner) error {
	dir, rest, err := t.openFor(alloc, task, file)
	if err != nil {
		return err
	}
	defer func() { dir.Close() }()
	var name string
	if dir, name, err = descend(dir, rest, owner); err != nil {
		return err
	}
	next := "." + name + ".new"
	if err := writeFor(dir, next, content, owner); err != nil {
		return err
	}
	if err := dir.Chmod(next, mode); err != nil {
		return err
	}
	return dir.Replace(next, name)
}

// openFor opens the directory in which the path of a template begins, and returns the remaining path.
func (t *Tree) openFor(alloc, task, file string) (*beneath.Dir, string, error) {
	if area, rest, ok := strings.Cut(file, "/"); ok && (area == "local" || area == "secrets") {
		dir, err := t.openArea(alloc, task, area)
		return dir, rest, err
	}
	root, err := beneath.Open(t.Root(alloc))
	if err != nil {
		return nil, "", err
	}
	defer root.Close()
	below := task
	if rest, ok := strings.CutPrefix(file, "alloc/"); ok {
		below, file = "alloc", rest
	}
	dir, err := root.Dir(below)
	return dir, file, err
}

// ReadTemplate reads a file of a task: the text of a template, or what one includes. It follows links that stay
// below the task's directories.
func (t *Tree) ReadTemplate(alloc, task, file string, limit int64) ([]byte, error) {
	at := filepath.Join(t.Root(alloc), task)
	if area, rest, ok := strings.Cut(file, "/"); ok {
		switch area {
		case "secrets":
			at, file = t.Task(alloc, task).Secrets, rest
		case "alloc":
			at, file = filepath.Join(t.Root(alloc), "alloc"), rest
		}
	}
	root, err := os.OpenRoot(at)
	if err != nil {
		return nil, errUnreadable
	}
	defer root.Close()
	f, info, err := beneath.File(root, file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("the task has no such file")
	case err != nil:
		return nil, errUnreadable
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("the file has more than %d bytes", limit)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil || int64(len(data)) > limit {
		return nil, errUnreadable
	}
	return data, nil
}

var errUnreadable = errors.New("the file cannot be read; it must be a regular file below the task's directory")
