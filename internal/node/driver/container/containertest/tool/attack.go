// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attack tries what a container must not do.
func attack(args []string) error {
	arg := func(n int) string {
		if n < len(args) {
			return args[n]
		}
		return ""
	}
	switch args[0] {
	case "mount":
		return syscall.Mount("none", arg(1), "tmpfs", 0, "")
	case "bind":
		return syscall.Mount(arg(1), arg(2), "", syscall.MS_BIND, "")
	case "remount": // makes a read-only mount writable
		return syscall.Mount("", arg(1), "", syscall.MS_REMOUNT|syscall.MS_BIND, "")
	case "umount":
		return syscall.Unmount(arg(1), 0)
	case "mknod": // the disk of the node
		if err := syscall.Mknod(arg(1), syscall.S_IFBLK|0o666, 254<<8); err != nil {
			return err
		}
		_, err := os.ReadFile(arg(1))
		return err
	case "unshare":
		flags, _ := strconv.ParseUint(arg(1), 0, 32)
		return syscall.Unshare(int(flags))
	case "ptrace":
		pid, _ := strconv.Atoi(arg(1))
		return syscall.PtraceAttach(pid)
	case "chroot":
		if err := syscall.Chroot(arg(1)); err != nil {
			return err
		}
		_, err := os.Stat("/.outside")
		return err
	case "reboot":
		return syscall.Reboot(syscall.LINUX_REBOOT_CMD_CAD_OFF)
	case "sethostname":
		return syscall.Sethostname([]byte("owned"))
	case "fds": // lists open files beyond the standard ones
		entries, err := os.ReadDir("/proc/self/fd")
		for _, e := range entries {
			if n, _ := strconv.Atoi(e.Name()); n > 2 {
				to, err := os.Readlink("/proc/self/fd/" + e.Name())
				if err == nil && to != "/proc/self/fd" && to != "/proc/1/fd" && to[0] == '/' && !strings.HasPrefix(to, "/sys/fs/cgroup/cpu") { // the Go runtime reads these

					fmt.Println("open", to)
				}
			}
		}
		return err
	case "call": // a system call; any other error than a denial says that it is permitted
		return call(arg(1))
	case "setns": // the namespace of a process
		f, err := os.Open(arg(1))
		if err != nil {
			return err
		}
		defer f.Close()
		return unix.Setns(int(f.Fd()), 0)
	case "overwrite": // a program that runs
		f, err := os.OpenFile(arg(1), os.O_WRONLY|os.O_TRUNC, 0)
		if err == nil {
			f.Close()
		}
		return err
	case "chmod":
		return os.Chmod(arg(1), 0o4755)
	}
	return fmt.Errorf("unknown command %q", args[0])
}

// calls are system calls by which programs change or read what belongs to the whole node. Their
// arguments are useless, so that they harm nothing where they are permitted.
var calls = map[string]struct {
	number uintptr
	args   [5]uintptr
}{
	"init_module":       {unix.SYS_INIT_MODULE, [5]uintptr{0, 0, 0}},
	"finit_module":      {unix.SYS_FINIT_MODULE, [5]uintptr{^uintptr(0), 0, 0}},
	"delete_module":     {unix.SYS_DELETE_MODULE, [5]uintptr{0, 0}},
	"kexec_load":        {unix.SYS_KEXEC_LOAD, [5]uintptr{0, 1 << 20, 0, 0}},
	"bpf":               {unix.SYS_BPF, [5]uintptr{0, 0, 0}},
	"perf_event_open":   {unix.SYS_PERF_EVENT_OPEN, [5]uintptr{0, 1 << 20, ^uintptr(0), ^uintptr(0), 0}},
	"open_by_handle_at": {unix.SYS_OPEN_BY_HANDLE_AT, [5]uintptr{^uintptr(99), 0, 0}},
	"syslog":            {unix.SYS_SYSLOG, [5]uintptr{3, 0, 0}},
	"swapon":            {unix.SYS_SWAPON, [5]uintptr{0, 0}},
	"acct":              {unix.SYS_ACCT, [5]uintptr{1}},
	"pivot_root":        {unix.SYS_PIVOT_ROOT, [5]uintptr{0, 0}},
	"fsopen":            {unix.SYS_FSOPEN, [5]uintptr{0, 0}},
	"open_tree":         {unix.SYS_OPEN_TREE, [5]uintptr{^uintptr(99), 0, 1}}, // a clone
	"add_key":           {unix.SYS_ADD_KEY, [5]uintptr{0, 0, 0, 0, 0}},
	"keyctl":            {unix.SYS_KEYCTL, [5]uintptr{0, ^uintptr(2), 1}}, // the session's keyring, made if it is missing
	"userfaultfd":       {unix.SYS_USERFAULTFD, [5]uintptr{1 << 30}},
	"io_uring_setup":    {unix.SYS_IO_URING_SETUP, [5]uintptr{0, 0}},
	"ptrace_seize":      {unix.SYS_PTRACE, [5]uintptr{unix.PTRACE_SEIZE, 1, 0, 0}},
}

func call(name string) error {
	c, found := calls[name]
	if !found {
		return nil // a test that names it wrongly fails
	}
	a := c.args
	handle := [16]byte{8, 0, 0, 0, 1} // of a file that does not exist
	if name == "open_by_handle_at" {
		a[1] = uintptr(unsafe.Pointer(&handle))
	}
	_, _, e := unix.Syscall6(c.number, a[0], a[1], a[2], a[3], a[4], 0)
	switch e {
	case unix.EPERM, unix.EACCES, unix.ENOSYS:
		return e
	}
	return nil
}
