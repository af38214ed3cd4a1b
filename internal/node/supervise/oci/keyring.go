// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// LeaveKeyring gives this thread a new keyring, so that a container cannot use the keys of its node. The runtime would
// make one too, but as the first user of the container. All containers share that user, and the kernel grants a user
// 200 keys: no more containers would run on a node. Root has a million. See package thread.
func LeaveKeyring() error {
	if _, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0); err != nil && !errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("make a keyring for the container: %w", err)
	}
	return nil
}
