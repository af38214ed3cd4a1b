// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A kernel rejects rulesets with rights that its version does not know. Every version handles the rights that
// it knows: a right that is not handled is permitted everywhere.
func TestRightsOfVersions(t *testing.T) {
	for version, want := range map[int]uint64{
		1: unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1,
		2: unix.LANDLOCK_ACCESS_FS_REFER<<1 - 1,
		3: unix.LANDLOCK_ACCESS_FS_TRUNCATE<<1 - 1,
		4: unix.LANDLOCK_ACCESS_FS_TRUNCATE<<1 - 1,
		5: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV<<1 - 1,
		9: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV<<1 - 1,
	} {
		if got := handled(version); got != want {
			t.Errorf("version %d handles %#x, want %#x", version, got, want)
		}
	}
}

func TestRightsOfRules(t *testing.T) {
	for access, forbidden := range map[Access]Access{Read: Write | Execute | Create, Write: Read | Execute | Create, Execute: Read | Write | Create, Create: Read | Write | Execute} {
		if access.rights() == 0 || access.rights()&forbidden.rights() != 0 {
			t.Errorf("access %b gives %#x, which %b gives too", access, access.rights(), forbidden)
		}
	}
	if All.rights()&devices != 0 {
		t.Error("a rule permits devices")
	}
	if want := handled(9) &^ devices; All.rights() != want {
		t.Errorf("all rights are %#x, want %#x", All.rights(), want)
	}
}
