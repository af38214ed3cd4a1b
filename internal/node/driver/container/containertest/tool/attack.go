// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
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
