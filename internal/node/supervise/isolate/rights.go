// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package isolate

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// DefaultCapabilities returns the capabilities that root keeps inside of a task.
func DefaultCapabilities() []string {
	return []string{
		"CAP_AUDIT_WRITE", "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_NET_BIND_SERVICE",
		"CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP", "CAP_SETUID", "CAP_SYS_CHROOT",
	}
}

// capabilityNames lists the capabilities by number.
var capabilityNames = []string{
	"CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "LINUX_IMMUTABLE",
	"NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT",
	"SYS_PTRACE", "SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD", "LEASE",
	"AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ",
	"PERFMON", "BPF", "CHECKPOINT_RESTORE",
}

// CapabilityName normalizes a capability's name to the form "CAP_CHOWN"; "all" denotes every
// capability.
func CapabilityName(name string) (string, error) {
	n := strings.TrimPrefix(strings.ToUpper(name), "CAP_")
	if !slices.Contains(capabilityNames, n) {
		return "", fmt.Errorf("unknown capability %q; capabilities are named like \"net_bind_service\"", name)
	}
	return "CAP_" + n, nil
}

// AllCapabilities returns every capability.
func AllCapabilities() []string {
	all := make([]string, len(capabilityNames))
	for i, n := range capabilityNames {
		all[i] = "CAP_" + n
	}
	return all
}

// HeldCapabilities returns the capabilities that this process has.
func HeldCapabilities() []string {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) != nil {
		return nil
	}
	var held []string
	for i, n := range capabilityNames {
		if data[i/32].Permitted&(1<<(i%32)) != 0 {
			held = append(held, "CAP_"+n)
		}
	}
	return held
}

func capabilityBits(names []string) (bits uint64) {
	for _, n := range names {
		if i := slices.Index(capabilityNames, strings.TrimPrefix(n, "CAP_")); i >= 0 {
			bits |= 1 << i
		}
	}
	return bits
}

// dropPrivileges gives this thread the user and few capabilities, without a way to gain
// others: set-user-id programs have no effect.
func dropPrivileges(s *Spec, u *User) error {
	keep, ambient := capabilityBits(s.Capabilities), capabilityBits(s.Ambient)
	if err := dropBounding(keep | ambient); err != nil {
		return err
	}
	if ambient != 0 {
		if err := unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("keep capabilities: %w", err)
		}
	}
	if err := setUser(u); err != nil {
		return err
	}
	if u.UID == 0 {
		ambient = 0 // root gains all of the bounding set by exec
	} else {
		keep = ambient
	}
	if err := setCapabilities(keep, ambient); err != nil {
		return err
	}
	for i := range capabilityNames {
		if ambient&(1<<i) != 0 {
			if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, uintptr(i), 0, 0); err != nil {
				return fmt.Errorf("give CAP_%s to user %d: %w", capabilityNames[i], u.UID, err)
			}
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	return nil
}

func dropBounding(keep uint64) error {
	for i := uintptr(0); i < 64; i++ {
		if keep&(1<<i) != 0 {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, i, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			return nil // past the last one of this kernel
		}
		if err != nil {
			return fmt.Errorf("drop capability %d: %w", i, err)
		}
	}
	return nil
}

// Unchanged is the number with which the kernel leaves the user or the group unchanged: that of root.
const Unchanged = math.MaxUint32

// setUser changes this thread only, unlike the functions of package syscall.
func setUser(u *User) error {
	if u.UID == Unchanged || u.GID == Unchanged {
		return fmt.Errorf("user %d with group %d would stay root: name another one", u.UID, u.GID)
	}
	var groups unsafe.Pointer
	if len(u.Groups) > 0 {
		groups = unsafe.Pointer(&u.Groups[0])
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(u.Groups)), uintptr(groups), 0); e != 0 {
		return fmt.Errorf("set groups: %w", e)
	}
	runtime.KeepAlive(u)
	gid, uid := uintptr(u.GID), uintptr(u.UID)
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, gid, gid, gid); e != 0 {
		return fmt.Errorf("set group %d: %w", u.GID, e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid); e != 0 {
		return fmt.Errorf("set user %d: %w", u.UID, e)
	}
	return nil
}

func setCapabilities(keep, inheritable uint64) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var had [2]unix.CapUserData
	if err := unix.Capget(&header, &had[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	var data [2]unix.CapUserData
	for i := range data {
		have := had[i].Permitted // the supervisor may lack some of them
		data[i].Permitted = uint32(keep>>(32*i)) & have
		data[i].Effective = data[i].Permitted
		data[i].Inheritable = uint32(inheritable>>(32*i)) & have
	}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}
