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
	t.busy <- struct{}{}
	defer func() { <-t.busy }()
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
	parts := strings.Split(file, "/")
	last := len(parts) - 1
	for _, part := range parts[:last] {
		next, err := dir.Make(part, 0o755)
		if err != nil {
			return err
		}
		dir.Close()
		dir = next
		if err := owner.take(dir); err != nil {
			return err
		}
	}
	f, err := dir.Create(parts[last], 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := owner.take(f); err != nil {
		return err
	}
	if _, err := f.Write(payload); err != nil {
		return err
	}
	return f.Close()
}
