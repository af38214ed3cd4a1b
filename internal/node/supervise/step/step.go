// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package step runs the short steps in front of a task's program: this executable, started with a hidden word, sets up
// the isolation of a program, and becomes it, or is the first process of a container.
//
// A step runs when this package is initialized, and never reaches main. Go initializes packages in the order of their
// paths, each after those that it imports. This one needs little, and comes before all that need net/http, whose
// initialization would take longer than the step itself. With another order, steps would be slower, and otherwise the
// same. So this package and isolate and oci import as little as they can.
package step

import (
	"io"
	"os"
	"runtime"

	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
	"github.com/reeve-run/reeve/internal/node/supervise/oci"
)

// Hidden command-line words. Users do not call them.
const (
	Init   = "supervise-init"
	Enter  = "supervise-enter"
	Join   = "supervise-join"
	Become = "supervise-become"
	Idle   = "supervise-idle" // waits for the end of its input
	// Reap makes this executable the first process of a container: it runs the program that follows, passes signals
	// on to it, and reaps all other processes.
	Reap = "supervise-reap"
)

var steps = map[string]func(args []string) int{
	Init:   func([]string) int { return isolate.Init() },
	Enter:  func([]string) int { return isolate.Enter() },
	Join:   func([]string) int { return isolate.Join() },
	Become: func([]string) int { return isolate.Join() },
	Idle:   func([]string) int { return idle() },
	Reap:   oci.Reap,
}

func init() {
	if len(os.Args) < 2 {
		return
	}
	if run := steps[os.Args[1]]; run != nil {
		runtime.LockOSThread() // to the main thread, on which init is certain to run
		os.Exit(run(os.Args[2:]))
	}
}

// idle is the process in a new user namespace: it stays until the supervisor has opened the namespace.
func idle() int {
	os.Stdout.Write([]byte{1})
	io.Copy(io.Discard, os.Stdin)
	return 0
}
