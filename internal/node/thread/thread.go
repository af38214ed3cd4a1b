// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package thread changes the attributes of a thread, such as its namespaces, without changing those of the process.
package thread

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Run calls do on a thread of its own, which then ends. A child that do starts inherits the attributes of the thread.
//
// It is never the main thread, which cannot end: it would stay in the namespaces that do entered, and /proc/self would show
// these to the whole process.
func Run(do func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			done <- Run(do) // gets another thread, because this one is locked
			return
		}
		done <- do() // the thread stays locked, and so ends
	}()
	return <-done
}
