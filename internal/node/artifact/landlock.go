// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// visible lists the parts of the host that fetching needs: programs and libraries, and the files
// about names, time and certificates.
var visible = []string{
	"/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin", "/usr", "/nix/store", "/run/current-system/sw",
	"/etc/alternatives", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/gai.conf", "/etc/host.conf", "/etc/hosts", "/etc/ld.so.cache",
	"/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/nsswitch.conf", "/etc/pki", "/etc/protocols", "/etc/resolv.conf",
	"/etc/services", "/etc/ssh/ssh_known_hosts", "/etc/ssl",
}

// alsoRead are further files that a confined process reads: in /dev and /proc, and its user's name.
var alsoRead = []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/etc/passwd", "/proc/self", "/proc/self/exe", "/proc/meminfo", "/proc/cpuinfo", "/run/systemd/resolve"}

// Scopes of version 6, which package unix lacks.
const (
	scopeAbstractSockets = 1
	scopeSignals         = 2
)

const (
	landlockRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	// landlockFiles are the rights that a file, and not only a directory, can have.
	landlockFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// LandlockVersion returns the version of Landlock's interface; 0: the kernel does not have it.
func LandlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// confine limits this thread, and the program that it becomes, to a directory and the readable
// parts of the host. It does nothing on kernels without Landlock.
func confine(dir string, extra []string) error {
	version := LandlockVersion()
	if version == 0 {
		return nil
	}
	handled := uint64(unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1)
	if version >= 2 {
		handled |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		handled |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	ruleset := unix.LandlockRulesetAttr{Handled_access_fs: handled}
	size := unsafe.Sizeof(ruleset.Handled_access_fs)
	if version >= 6 {
		ruleset.Scoped = scopeAbstractSockets | scopeSignals
		size = unsafe.Offsetof(ruleset.Quiet_access_fs)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&ruleset)), size, 0)
	if errno != 0 {
		return fmt.Errorf("confine the fetch: %w", errno)
	}
	defer unix.Close(int(fd))
	if err := allowBelow(int(fd), dir, handled); err != nil {
		return err
	}
	for _, path := range slices.Concat(visible, alsoRead, extra) {
		rights := uint64(landlockRead)
		if path == "/dev/null" {
			rights |= unix.LANDLOCK_ACCESS_FS_WRITE_FILE
		}
		if err := allowBelow(int(fd), path, rights&handled); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("confine the fetch: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("confine the fetch: %w", errno)
	}
	return nil
}

func allowBelow(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= landlockFiles
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("confine the fetch to %s: %w", path, errno)
	}
	return nil
}
