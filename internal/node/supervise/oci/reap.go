// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Exit codes of a command that cannot run, as of a shell.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// Reap is the first process of a container: it runs a program, passes signals on to it, reaps every
// process that loses its parent, and ends as the program did. args are "--" and the program's.
func Reap(args []string) int {
	if len(args) < 2 {
		fmt.Fprintln(os.Stderr, "the init of a container is started with a program")
		return 2
	}
	argv := args[1:]
	signals := make(chan os.Signal, 64)
	signal.Notify(signals)
	path, err := exec.LookPath(argv[0])
	if err != nil {
		fmt.Fprintf(os.Stderr, "command not found in the image: %s\n", argv[0])
		return exitNotFound
	}
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setpgid: true}})
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot run %s: %v\n", path, err)
		return exitNotExecutable
	}
	for {
		if ws, ended := reapAll(pid); ended {
			if ws.Signaled() {
				return 128 + int(ws.Signal())
			}
			return ws.ExitStatus()
		}
		switch s := (<-signals).(syscall.Signal); s {
		case unix.SIGCHLD, unix.SIGURG, unix.SIGPIPE: // SIGURG is the Go runtime's own
		default:
			unix.Kill(pid, s)
		}
	}
}

// reapAll reaps all ended children, and returns the exit of the program if it is one of them.
func reapAll(pid int) (exit unix.WaitStatus, ended bool) {
	for {
		var ws unix.WaitStatus
		n, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || n <= 0:
			return exit, ended
		case n == pid:
			exit, ended = ws, true
		}
	}
}
