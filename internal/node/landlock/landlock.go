// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package landlock confines a thread, and the program that it becomes, to some files, with the
// Linux security module of this name.
package landlock

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An Access is a set of rights to files.
type Access uint8

// Rights to a file, or to everything below a directory.
const (
	Read    Access = 1 << iota // read files, list directories
	Write                      // write existing files, and control devices
	Execute                    // run programs
	Create                     // create, remove, link and rename files and directories, but no devices
	All     = Read | Write | Execute | Create
)

// A Rule permits access to a file, or to everything below a directory.
type Rule struct {
	Path   string
	Access Access
	// Optional rules have no effect if their path does not exist, or if the caller has no right to reach it.
	Optional bool `json:",omitempty"`
	// Source is the setting of a user that an error about the path quotes; "" quotes the path.
	Source string `json:",omitempty"`
}

// A Scope is a set of further things that a confined program cannot reach outside, on kernels that
// support it (version 6).
type Scope uint64

// Scopes, which package unix lacks.
const (
	AbstractSockets Scope = 1
	Signals         Scope = 2
)

// Rights of the kernel for each right of a Rule.
const (
	reads   = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writes  = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	creates = unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	devices = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK // in no rule
	// ofFiles are the rights that a file, and not only a directory, can have.
	ofFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | writes
)

// Version returns the version of the kernel's interface; 0: the kernel does not have Landlock.
func Version() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// handled returns the rights that a version of the interface knows.
func handled(version int) uint64 {
	all := uint64(unix.LANDLOCK_ACCESS_FS_EXECUTE | reads | writes | creates | devices)
	if version < 2 {
		all &^= unix.LANDLOCK_ACCESS_FS_REFER // always denied
	}
	if version < 3 {
		all &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version < 5 {
		all &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return all
}

// Restrict confines this thread, and the program that it becomes, to the rules. It sets
// no_new_privs. The caller has locked the thread.
func Restrict(rules []Rule, scope Scope) error {
	version := Version()
	if version == 0 {
		return errors.New("the kernel has no Landlock: use Linux 5.13 or later, with landlock in lsm= on the command line of the kernel")
	}
	set := unix.LandlockRulesetAttr{Handled_access_fs: handled(version)}
	size := unsafe.Sizeof(set.Handled_access_fs)
	if version >= 6 {
		set.Scoped = uint64(scope)
		size = unsafe.Offsetof(set.Quiet_access_fs)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&set)), size, 0)
	if errno != 0 {
		return fmt.Errorf("create a Landlock ruleset: %w", errno)
	}
	defer unix.Close(int(fd))
	for _, r := range rules {
		if err := allow(int(fd), r, set.Handled_access_fs); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("restrict the process with Landlock: %w", errno)
	}
	return nil
}

func allow(ruleset int, r Rule, handled uint64) error {
	fd, err := unix.Open(r.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		if r.Optional && (errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES)) {
			return nil
		}
		if r.Source != "" {
			return fmt.Errorf("%s: %w, as the task sees its file system", r.Source, err)
		}
		return &os.PathError{Op: "open", Path: r.Path, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "stat", Path: r.Path, Err: err}
	}
	rights := r.Access.rights() & handled
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFiles
	}
	if rights == 0 {
		return nil // such as the right to create below a file, which the kernel rejects
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("permit %s with Landlock: %w", r.Path, errno)
	}
	return nil
}

func (a Access) rights() (all uint64) {
	for right, of := range map[Access]uint64{Read: reads, Write: writes, Execute: unix.LANDLOCK_ACCESS_FS_EXECUTE, Create: creates} {
		if a&right != 0 {
			all |= of
		}
	}
	return all
}
