// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package thread

import (
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// The main thread cannot end. If it entered a namespace, the process would show it in /proc/self from
// then on.
func TestTheMainThreadStaysInItsNamespace(t *testing.T) {
	before, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup
	for range 64 {
		calls.Go(func() {
			err := Run(func() error {
				if unix.Gettid() == unix.Getpid() {
					t.Error("it is called on the main thread")
				}
				return unix.Unshare(unix.CLONE_NEWNET)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if after, err := os.Readlink("/proc/self/ns/net"); err != nil || after != before {
		t.Errorf("the process was in %s, and is in %s (%v)", before, after, err)
	}
}
