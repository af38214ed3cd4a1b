// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package isolate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Descriptors of the files that Init and Enter receive.
const (
	commandFile = 3 // a Command as JSON
	reportFile  = 4 // receives the error; closed when the command runs
	targetFile  = 5 // for Enter: a pidfd of the process whose namespaces to enter
)

// CloneFlags returns the namespaces in which to start Init.
func CloneFlags(s *Spec) uintptr {
	flags := uintptr(unix.CLONE_NEWNS | unix.CLONE_NEWUTS)
	if !s.HostPID {
		flags |= unix.CLONE_NEWPID
	}
	if !s.HostIPC {
		flags |= unix.CLONE_NEWIPC
	}
	return flags
}

// Init runs as the first process of a task's namespaces: it builds the root, drops
// privileges, and becomes the task. It returns only on failure.
func Init() int {
	return become(func(c *Command) error {
		if err := buildRoot(c.Spec, c.user()); err != nil {
			return fmt.Errorf("make the task's root: %w", err)
		}
		if c.Spec.Hostname != "" {
			if err := unix.Sethostname([]byte(c.Spec.Hostname)); err != nil {
				return fmt.Errorf("set the task's host name: %w", err)
			}
		}
		return nil
	})
}

// Enter runs beside a task: it enters the task's namespaces, drops privileges, and becomes
// the command. Its parent forked it in the task's pid namespace.
func Enter() int {
	return become(func(c *Command) error {
		flags := unix.CLONE_NEWNS | unix.CLONE_NEWUTS
		if !c.Spec.HostIPC {
			flags |= unix.CLONE_NEWIPC
		}
		// Threads share their root and working directory. A thread with its own mount namespace
		// must not.
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			return fmt.Errorf("unshare: %w", err)
		}
		if err := unix.Setns(targetFile, flags); err != nil {
			return fmt.Errorf("enter the task's namespaces: %w", err)
		}
		return nil
	})
}

// Join runs before a task without isolation if a process must join its cgroups by itself; and
// before an isolated daemon, which has joined them.
func Join() int { return become(func(*Command) error { return nil }) }

// become prepares and executes the command. All steps run on one thread: Linux keeps users,
// capabilities and namespaces per thread, and exec keeps only the calling thread.
func become(prepare func(*Command) error) int {
	runtime.LockOSThread()
	unix.CloseOnExec(commandFile)
	unix.CloseOnExec(reportFile)
	unix.CloseOnExec(targetFile)
	report := os.NewFile(reportFile, "report")
	fmt.Fprint(report, attempt(prepare))
	return 1
}

// attempt prepares and executes the command. It returns only on failure.
func attempt(prepare func(*Command) error) error {
	// A command beside a task enters the task's namespaces before it drops privileges: the
	// task must not have access to its memory, its files or its program.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide from the task: %w", err)
	}
	c := new(Command)
	if err := json.NewDecoder(os.NewFile(commandFile, "command")).Decode(c); err != nil {
		return fmt.Errorf("read the command: %w", err)
	}
	joined, err := startJoining(c.Join)
	if err != nil {
		return err
	}
	if c.OOMScore > 0 { // before the task has its own /proc
		if err := os.WriteFile("/proc/self/oom_score_adj", []byte(strconv.Itoa(c.OOMScore)), 0); err != nil {
			return fmt.Errorf("set oom_score_adj: %w", err)
		}
	}
	if err := prepare(c); err != nil {
		return err
	}
	if err := <-joined; err != nil {
		return err
	}
	if c.Become != "" {
		return keep(c)
	}
	if c.Spec != nil {
		if err := dropPrivileges(c.Spec, c.user()); err != nil {
			return err
		}
		return execute(c)
	}
	if c.User != nil {
		if err := setUser(c.User); err != nil {
			return err
		}
	}
	if err := unix.Chdir(c.Dir); err != nil {
		return fmt.Errorf("working directory %s: %w", c.Dir, err)
	}
	return runError(c.Path, syscall.Exec(c.Path, c.Argv, c.Env))
}

// startJoining moves this process into v1 cgroups during the other preparations: the kernel
// synchronizes all processors before it moves a process, which takes milliseconds of waiting.
// It opens the host's files before it returns, because the root changes.
func startJoining(dirs []string) (<-chan error, error) {
	var groups []int
	for _, dir := range dirs {
		fd, err := unix.Open(filepath.Join(dir, "cgroup.procs"), unix.O_WRONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("open the task's cgroup: %w", err)
		}
		groups = append(groups, fd)
	}
	joined := make(chan error, 1)
	go func() {
		for _, fd := range groups {
			if _, err := unix.Write(fd, []byte("0")); err != nil {
				joined <- fmt.Errorf("join the task's cgroup: %w", err)
				return
			}
		}
		joined <- nil
	}()
	return joined, nil
}

// user returns the user that an isolated command runs as.
func (c *Command) user() *User {
	if c.User == nil {
		return &User{}
	}
	return c.User
}
