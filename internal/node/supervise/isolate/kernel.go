// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package isolate

import (
	"os"

	"golang.org/x/sys/unix"
)

// masked lists files of /proc that expose or affect the host.
var masked = []string{"acpi", "kcore", "keys", "latency_stats", "sched_debug", "scsi", "sysrq-trigger", "timer_list"}

// readOnly lists directories of /proc that can change the host.
var readOnly = []string{"bus", "fs", "irq", "sys"}

// mountKernel mounts the kernel's file systems: processes, devices and the machine.
func mountKernel(root string, s *Spec) error {
	const strict = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	for _, dir := range []string{"/proc", "/sys", "/dev"} {
		if err := os.Mkdir(root+dir, 0o755); err != nil {
			return err
		}
	}
	if err := mount("proc", root+"/proc", "proc", strict, ""); err != nil {
		return err
	}
	if err := mount("sysfs", root+"/sys", "sysfs", strict|unix.MS_RDONLY, ""); err != nil {
		return err
	}
	if err := mountDevices(root+"/dev", s); err != nil {
		return err
	}
	return restrictProc(root)
}

func restrictProc(root string) error {
	for _, name := range masked {
		path := root + "/proc/" + name
		st, err := os.Stat(path)
		switch {
		case err != nil:
			continue
		case st.IsDir():
			err = mount("tmpfs", path, "tmpfs", unix.MS_RDONLY, "size=0")
		default:
			err = mount(root+"/dev/null", path, "", unix.MS_BIND, "")
		}
		if err != nil {
			return err
		}
	}
	for _, name := range readOnly {
		path := root + "/proc/" + name
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if err := mount(path, path, "", unix.MS_BIND, ""); err != nil {
			return err
		}
		if err := setFlags(path, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
			return err
		}
	}
	return nil
}

var devices = []struct {
	name         string
	major, minor uint32
}{
	{"null", 1, 3}, {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0},
}

func mountDevices(dev string, s *Spec) error {
	if err := mount("tmpfs", dev, "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755,size=64k"); err != nil {
		return err
	}
	for _, d := range devices {
		path := dev + "/" + d.name
		err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(d.major, d.minor)))
		if err == nil {
			err = os.Chmod(path, 0o666) // regardless of the umask
		} else {
			err = bind("/dev/"+d.name, path)
		}
		if err != nil {
			return err
		}
	}
	for _, dir := range []string{"pts", "shm", "mqueue"} {
		if err := os.Mkdir(dev+"/"+dir, 0o755); err != nil {
			return err
		}
	}
	if err := mount("devpts", dev+"/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"); err != nil {
		return err
	}
	if err := mount("shm", dev+"/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=1777,size=64m"); err != nil {
		return err
	}
	if !s.HostIPC {
		if err := mount("mqueue", dev+"/mqueue", "mqueue", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
			return err
		}
	}
	for name, to := range map[string]string{
		"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	} {
		if err := os.Symlink(to, dev+"/"+name); err != nil {
			return err
		}
	}
	return nil
}
