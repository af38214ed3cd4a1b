// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package isolate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// DefaultHostPaths returns the parts of the host that a task sees: programs and libraries, and
// the files of /etc about names, time and certificates.
func DefaultHostPaths() []string {
	paths := []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr"}
	for _, name := range []string{
		"alternatives", "bash.bashrc", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version", "gai.conf", "group",
		"host.conf", "hostname", "hosts", "inputrc", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "localtime",
		"magic", "mime.types", "nsswitch.conf", "os-release", "passwd", "pki", "profile", "protocols", "resolv.conf", "rpc", "services",
		"shells", "ssl", "terminfo", "timezone",
	} {
		paths = append(paths, "/etc/"+name)
	}
	return paths
}

// buildRoot builds the task's root on a file system in memory, and moves into it. The root is
// small and writable for the task; the host's parts are read-only.
func buildRoot(s *Spec, u *User) error {
	// Mounts with propagation are cloned before everything becomes private: a clone stays in
	// the group of its mount on the host.
	clones, err := cloneShared(s.Mounts)
	if err != nil {
		return err
	}
	// Keep mounts private to this namespace.
	if err := mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	root := s.RootDir
	if err := mount("tmpfs", root, "tmpfs", 0, fmt.Sprintf("mode=0755,size=16m,uid=%d,gid=%d", u.UID, u.GID)); err != nil {
		return err
	}
	bound, err := bindHost(root, s.HostPaths)
	if err != nil {
		return err
	}
	if err := protect(root, bound); err != nil {
		return err
	}
	if err := mountKernel(root, s); err != nil {
		return err
	}
	for _, d := range s.Devices {
		if err := placeDevice(root, d, u); err != nil {
			return err
		}
	}
	for i, m := range s.Mounts {
		if err := place(root, m, clones[i]); err != nil {
			return err
		}
		flags := uint64(unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
		if m.ReadOnly {
			flags |= unix.MOUNT_ATTR_RDONLY
		}
		if err := setFlags(root+m.Target, flags); err != nil {
			return err
		}
	}
	return pivot(root)
}

// bindHost mounts the host's paths under root. It recreates a symbolic link whose target is
// also mounted, and follows other links.
func bindHost(root string, paths []string) (bound []string, err error) {
	for _, p := range paths {
		st, err := os.Lstat(p)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		source := p
		if st.Mode()&os.ModeSymlink != 0 {
			to, err := filepath.EvalSymlinks(p)
			if err != nil {
				continue // dangling
			}
			if isVisible(to, paths) {
				link, err := os.Readlink(p)
				if err == nil {
					err = os.MkdirAll(filepath.Dir(root+p), 0o755)
				}
				if err == nil {
					err = os.Symlink(link, root+p)
				}
				if err != nil {
					return nil, err
				}
				continue
			}
			source = to
		}
		if err := bind(source, root+p); err != nil {
			return nil, err
		}
		bound = append(bound, root+p)
	}
	return bound, nil
}

func isVisible(path string, paths []string) bool {
	for _, p := range paths {
		if strings.HasPrefix(path, p+"/") {
			return true
		}
	}
	return false
}

// protect makes the bound paths read-only, atomically where the kernel supports it (Linux
// 5.12).
func protect(root string, bound []string) error {
	const flags = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	err := unix.MountSetattr(unix.AT_FDCWD, root, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: flags})
	if err == nil {
		return unix.MountSetattr(unix.AT_FDCWD, root, 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	}
	if !errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("make %s read-only: %w", root, err)
	}
	for _, b := range bound {
		if err := setFlags(b, flags); err != nil {
			return err
		}
	}
	return nil
}

func setFlags(target string, flags uint64) error {
	err := unix.MountSetattr(unix.AT_FDCWD, target, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: flags})
	if errors.Is(err, unix.ENOSYS) {
		old := uintptr(unix.MS_REMOUNT | unix.MS_BIND)
		for attr, ms := range map[uint64]uintptr{
			unix.MOUNT_ATTR_RDONLY: unix.MS_RDONLY, unix.MOUNT_ATTR_NOSUID: unix.MS_NOSUID, unix.MOUNT_ATTR_NODEV: unix.MS_NODEV,
		} {
			if flags&attr != 0 {
				old |= ms
			}
		}
		err = unix.Mount("", target, "", old, "")
	}
	if err != nil {
		return fmt.Errorf("set the flags of mount %s: %w", target, err)
	}
	return nil
}

// bind mounts source at target, which it creates as a directory or file.
func bind(source, target string) error {
	st, err := os.Stat(source)
	if err != nil {
		return err
	}
	if st.IsDir() {
		err = os.MkdirAll(target, 0o755)
	} else if err = os.MkdirAll(filepath.Dir(target), 0o755); err == nil {
		err = touch(target)
	}
	if err != nil {
		return err
	}
	return mount(source, target, "", unix.MS_BIND|unix.MS_REC, "")
}

func touch(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// pivot makes root the root, and unmounts the old one.
func pivot(root string) error {
	if err := unix.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount the host's root: %w", err)
	}
	return unix.Chdir("/")
}

func mount(source, target, kind string, flags uintptr, data string) error {
	if err := unix.Mount(source, target, kind, flags, data); err != nil {
		return fmt.Errorf("mount %s at %s: %w", source, target, err)
	}
	return nil
}
