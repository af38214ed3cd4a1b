// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"fmt"
	"path"
	"strings"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

// WritePayload writes the payload of a dispatched job to a file below a task's local
// directory, for the user that runs the task. Files that an earlier run of the task left
// there can neither redirect the write nor block it.
func (t *Tree) WritePayload(alloc, task, file string, payload []byte, owner Owner) error {
	t.writes <- struct{}{}
	defer func() { <-t.writes }()
	if err := t.writePayload(alloc, task, path.Clean(file), payload, owner); err != nil {
		return fmt.Errorf("write the payload: %w", err)
	}
	return nil
}

func (t *Tree) writePayload(alloc, task, file string, payload []byte, owner Owner) error {
	root, err := beneath.Open(t.Root(alloc))
	if err != nil {
		return err
	}
	defer root.Close()
	dir, err := root.Dir(task + "/local")
	if err != nil {
		return err
	}
	defer func() { dir.Close() }()
	if dir, file, err = descend(dir, file, owner); err != nil {
		return err
	}
	return writeFor(dir, file, payload, owner)
}

// descend opens the directory of a file below dir, which it closes, and returns it with the file's name there.
// It makes missing directories for the owner. It follows no link.
func descend(dir *beneath.Dir, file string, owner Owner) (*beneath.Dir, string, error) {
	parts := strings.Split(file, "/")
	last := len(parts) - 1
	for _, part := range parts[:last] {
		next, err := dir.Make(part, 0o755)
		if err != nil {
			return dir, "", err
		}
		dir.Close()
		dir = next
		if err := owner.take(dir); err != nil {
			return dir, "", err
		}
	}
	return dir, parts[last], nil
}

// writeFor writes a file that only the owner can read, in place of any other file of that name.
func writeFor(dir *beneath.Dir, name string, content []byte, owner Owner) error {
	f, err := dir.Create(name, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := owner.take(f); err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Close()
}
