// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

// WriteToken writes a secret to a file below the directory secrets or local of a task, for the user that
// runs the task: file is relative to the task's directory. The file changes in one step. Links and
// files that the task made can neither redirect the write nor block it.
func (t *Tree) WriteToken(alloc, task, file, secret string, owner Owner) error {
	t.writes <- struct{}{}
	defer func() { <-t.writes }()
	if err := t.writeToken(alloc, task, path.Clean(file), secret, owner); err != nil {
		return fmt.Errorf("write %s: %w", file, t.explainFull(alloc, task, file, err))
	}
	return nil
}

func (t *Tree) writeToken(alloc, task, file, secret string, owner Owner) error {
	area, rest, _ := strings.Cut(file, "/")
	if rest == "" {
		return errOutside
	}
	dir, err := t.openArea(alloc, task, area)
	if err != nil {
		return err
	}
	defer func() { dir.Close() }()
	var name string
	if dir, name, err = descend(dir, rest, owner); err != nil {
		return err
	}
	next := "." + name + ".new"
	if err := writeFor(dir, next, []byte(secret), owner); err != nil {
		return err
	}
	return dir.Replace(next, name)
}

var errOutside = errors.New("the path must be below secrets/ or local/")

// openArea opens the directory secrets or local of a task, and not what the task put in its place.
func (t *Tree) openArea(alloc, task, area string) (*beneath.Dir, error) {
	above, below := t.Root(alloc), task+"/local"
	switch area {
	case "secrets":
		if err := t.CheckMount(alloc, task); err != nil {
			return nil, err
		}
		above, below = filepath.Split(t.Task(alloc, task).Secrets)
	case "local":
	default:
		return nil, errOutside
	}
	root, err := beneath.Open(above)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Dir(below)
}
