// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"fmt"
	"os"
	"path"
)

// WritePayload writes what a job was dispatched with to a file below a task's
// local directory, for the user who is to run the task. Nothing that the task
// left there, such as a link, leads it to another place.
func (t *Tree) WritePayload(alloc, task, file string, payload []byte, owner Owner) error {
	t.busy <- struct{}{}
	defer func() { <-t.busy }()
	root, err := os.OpenRoot(t.Task(alloc, task).Local)
	if err != nil {
		return fmt.Errorf("write the payload: %w", err)
	}
	defer root.Close()
	file = path.Clean(file)
	if dir := path.Dir(file); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("write the payload: %w", err)
		}
		for ; dir != "."; dir = path.Dir(dir) {
			if err := owner.takeIn(root, dir); err != nil {
				return fmt.Errorf("write the payload: %w", err)
			}
		}
	}
	if err := root.WriteFile(file, payload, 0o600); err != nil {
		return fmt.Errorf("write the payload: %w", err)
	}
	if err := owner.takeIn(root, file); err != nil {
		return fmt.Errorf("write the payload: %w", err)
	}
	return nil
}

func (o Owner) takeIn(root *os.Root, name string) error {
	if !o.set {
		return nil
	}
	return root.Chown(name, o.uid, o.gid)
}
