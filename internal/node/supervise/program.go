// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// A programFile finds a file with the program of this process, for containers whose first process it is (init = true).
//
// The step that mounts it cannot use its own /proc/self/exe, whose mount belongs to the namespace of the supervisor. And
// an upgrade may have replaced the installed file before the supervisor is replaced: then a copy serves.
type programFile struct {
	mu     sync.Mutex
	copied string // path of the copy, once it is made
}

const programName = "program" // of the copy, in the supervisor's directory

// path returns the path of the file. Copies are made in dir.
func (p *programFile) path(dir string) (string, error) {
	const self = "/proc/self/exe"
	own, err := os.Stat(self)
	if err != nil {
		return "", fmt.Errorf("find the program of the supervisor: %w", err)
	}
	if installed, err := os.Readlink(self); err == nil {
		if st, err := os.Stat(installed); err == nil && os.SameFile(st, own) {
			return installed, nil
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.copied == "" {
		if err := copyProgram(self, filepath.Join(dir, programName)); err != nil {
			return "", fmt.Errorf("copy the program of the supervisor, whose file was replaced: %w", err)
		}
		p.copied = filepath.Join(dir, programName)
	}
	return p.copied, nil
}

// copyProgram replaces a file by a copy of an executable.
func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755) // what a killed supervisor left is overwritten
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	if err := out.Chmod(0o755); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}
