// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package isolate

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/landlock"
	"github.com/reeve-run/reeve/internal/node/program"
)

// execute replaces this program with the command.
func execute(c *Command) error {
	if err := unix.Chdir(c.Dir); err != nil {
		return fmt.Errorf("working directory %s, as the task sees it: %w", c.Dir, err)
	}
	path, err := program.Look(c.Path, program.Env(c.Env, "PATH"), "/local", "/")
	if err != nil {
		return err
	}
	if c.Spec.DataBytes > 0 {
		limit := unix.Rlimit{Cur: uint64(c.Spec.DataBytes), Max: uint64(c.Spec.DataBytes)}
		if err := unix.Setrlimit(unix.RLIMIT_DATA, &limit); err != nil {
			return fmt.Errorf("limit memory: %w", err)
		}
	}
	if len(c.Spec.Landlock) > 0 {
		// The step has no privileges by now, so a path that only root can reach is out of the task's reach, too.
		if err := landlock.Restrict(c.Spec.Landlock, 0); err != nil {
			return err
		}
	}
	if err := setUlimits(c.Spec.Ulimits); err != nil {
		return err
	}
	return runError(path, syscall.Exec(path, c.Argv, c.Env))
}

// runError explains to a user why an existing program could not be executed.
func runError(path string, err error) error {
	switch {
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("cannot run %s: the interpreter or loader that it names does not exist", path)
	case errors.Is(err, unix.ENOEXEC):
		return fmt.Errorf("cannot run %s: it is neither a program for this machine nor a script with a #! line", path)
	case errors.Is(err, unix.EACCES):
		return fmt.Errorf("permission denied: %s cannot be executed by the task's user", path)
	}
	return fmt.Errorf("run %s: %w", path, err)
}
