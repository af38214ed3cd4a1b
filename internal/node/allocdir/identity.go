// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"fmt"
	"path"
	"strings"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

// WriteToken writes a secret to a file below the directory secrets or local of a task, for the user that
// runs the task: file is relative to the task's directory. The file changes in one step. Links and
// files that the task made can neither redirect the write nor block it.
func (t *Tree) WriteToken(alloc, task, file, secret string, owner Owner) error {
	t.busy <- struct{}{}
	defer func() { <-t.busy }()
	if err := t.writeToken(alloc, task, path.Clean(file), secret, owner); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

func (t *Tree) writeToken(alloc, task, file, secret string, owner Owner) error {
	area, rest, _ := strings.Cut(file, "/")
	dirs := t.Task(alloc, task)
	at := map[string]string{"secrets": dirs.Secrets, "local": dirs.Local}[area]
	if at == "" || rest == "" {
		return fmt.Errorf("the path must be below secrets/ or local/")
	}
	dir, err := beneath.Open(at)
	if err != nil {
		return err
	}
	defer func() { dir.Close() }()
	parts := strings.Split(rest, "/")
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
	next := "." + parts[last] + ".new"
	f, err := dir.Create(next, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := owner.take(f); err != nil {
		return err
	}
	if _, err := f.WriteString(secret); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return dir.Replace(next, parts[last])
}
