// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package isolate

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// keep starts the command of a daemon, and stays the first process of its pid namespace until
// all other processes have ended: processes in the namespace that lose their parent become
// children of this one. It returns only if the command could not be started.
//
// It passes signals to the command's own process until that has ended, and then to all
// remaining processes.
func keep(c *Command) error {
	signals := make(chan os.Signal, 64)
	signal.Notify(signals)
	main, err := startBeside(c)
	if err != nil {
		return err
	}
	unix.Close(reportFile) // the command has its own, closed when it runs
	var running atomic.Int64
	running.Store(int64(main))
	go func() {
		for sig := range signals {
			if sig == unix.SIGCHLD || sig == unix.SIGURG {
				continue
			}
			to := int(running.Load())
			if to != 0 && unix.Kill(to, sig.(syscall.Signal)) == nil {
				continue
			}
			unix.Kill(-1, sig.(syscall.Signal))
		}
	}()
	last := unix.WaitStatus(0)
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil: // no children
			os.Exit(exitCode(last))
		}
		if last = ws; pid == main {
			running.Store(0)
			if code := exitCode(ws); code != 0 { // it failed, and all others end with it
				os.Exit(code)
			}
		}
	}
}

// startBeside starts the command as a child, through this program, which drops privileges on
// the way.
func startBeside(c *Command) (pid int, err error) {
	own := *c
	own.Become, own.Join = "", nil
	config, err := unix.MemfdCreate("command", unix.MFD_CLOEXEC)
	if err != nil {
		return 0, os.NewSyscallError("memfd_create", err)
	}
	file := os.NewFile(uintptr(config), "command")
	defer file.Close()
	if err := json.NewEncoder(file).Encode(own); err != nil {
		return 0, err
	}
	if _, err := file.Seek(0, 0); err != nil {
		return 0, err
	}
	pid, err = syscall.ForkExec("/proc/self/exe", []string{"reeve", c.Become}, &syscall.ProcAttr{
		Dir: "/", Env: os.Environ(), Files: []uintptr{0, 1, 2, file.Fd(), reportFile}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("start the task in its namespaces: %w", err)
	}
	return pid, nil
}

// exitCode returns the exit code in the convention of shells.
func exitCode(ws unix.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}
