// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// leaveKeyring gives this thread a new keyring, so that a container cannot use the keys of its node. The runtime would
// make one too, but as the first user of the container. All containers share that user, and the kernel grants a user
// 200 keys: no more containers would run on a node. Root has a million. The thread must be locked.
func leaveKeyring() error {
	if _, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0); err != nil && !errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("make a keyring for the container: %w", err)
	}
	return nil
}

// EnterContainer runs as the step before the runtime's call for a command in a container, which is args. It returns only
// on failure.
func EnterContainer(args []string) int {
	runtime.LockOSThread()
	err := leaveKeyring()
	if err == nil && len(args) > 0 {
		err = syscall.Exec(args[0], args, os.Environ())
	}
	fmt.Fprintf(os.Stderr, "run the command in the container: %v\n", err)
	return exitNotExecutable
}
