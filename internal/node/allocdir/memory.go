// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// DefaultSecretsMB is the size of the directory of secrets of a task that requests none, in MiB.
const DefaultSecretsMB = 1

// inodesPerMB bounds the files of a task's secrets: an empty file takes none of the file system's size, but
// memory of the kernel.
const inodesPerMB = 1024

// mountTask mounts the memory file system of a task's secrets at dir, whose parent belongs to the agent. A task
// that starts again keeps its mount and its files.
//
// The mount point below it has mode 0: what the mount does not hide any longer is of no use to a task, and
// marks a mount that another program has removed.
func mountTask(dir string, l Layout) error {
	if err := makeDir(dir, 0); err != nil {
		return err
	}
	mb := l.SecretsMB
	if mb <= 0 {
		mb = DefaultSecretsMB
	}
	mounted, err := isMount(dir)
	if err != nil {
		return fmt.Errorf("check the directory of secrets: %w", err)
	}
	if mounted {
		var st unix.Statfs_t
		if err := unix.Statfs(dir, &st); err != nil {
			return fmt.Errorf("check the directory of secrets: %w", err)
		}
		if st.Type == unix.TMPFS_MAGIC && int64(st.Blocks)*st.Bsize == int64(mb)<<20 {
			return nil
		}
		if err := unmount(dir); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("mode=0700,size=%dm,nr_inodes=%d", mb, mb*inodesPerMB)
	if l.Owner.set {
		options += fmt.Sprintf(",uid=%d,gid=%d", l.Owner.uid, l.Owner.gid)
	}
	if err := mountMemory(dir, options); err != nil {
		return fmt.Errorf("mount a memory file system of %d MiB for the task's secrets: %w", mb, err)
	}
	return nil
}

// mountMemory mounts a memory file system, which is never swapped out where the kernel can.
func mountMemory(dir, options string) error {
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	err := unix.Mount("reeve-secrets", dir, "tmpfs", flags, options+",noswap")
	if errors.Is(err, unix.EINVAL) { // noswap needs Linux 6.4
		err = unix.Mount("reeve-secrets", dir, "tmpfs", flags, options)
	}
	return err
}

// isMount reports whether another file system is mounted at dir than the one of its parent.
func isMount(dir string) (bool, error) {
	var own, parent unix.Stat_t
	if err := unix.Lstat(dir, &own); err != nil {
		return false, err
	}
	if err := unix.Lstat(filepath.Dir(dir), &parent); err != nil {
		return false, err
	}
	return own.Dev != parent.Dev, nil
}

// CheckMount reports a task's directory of secrets whose mount another program has removed.
func (t *Tree) CheckMount(alloc, task string) error {
	if !t.inMemory {
		return nil
	}
	d := t.Task(alloc, task)
	if _, err := os.Lstat(d.Task); err != nil {
		return nil // the task has no directories
	}
	var st unix.Stat_t
	err := unix.Lstat(d.Secrets, &st)
	if err == nil && st.Mode&0o777 != 0 {
		return nil // the root of the mount, or what an earlier version made in memory
	}
	if err == nil || err == unix.ENOENT {
		return fmt.Errorf("the memory file system of the task's secrets is not mounted at %s any longer: restart the task, which mounts it", d.Secrets)
	}
	return fmt.Errorf("check the directory of secrets: %w", err)
}

// unmountTasks unmounts the secrets of an allocation's tasks. Processes that still use one of them keep it
// until they end.
func unmountTasks(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list the secrets of an allocation: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if e.IsDir() {
			errs = append(errs, unmount(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// unmount removes all mounts at dir. It follows no link.
func unmount(dir string) error {
	for {
		mounted, err := isMount(dir)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !mounted {
			return nil
		}
		if err == nil {
			err = unix.Unmount(dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		}
		if err != nil {
			return fmt.Errorf("unmount the secrets at %s: %w", dir, err)
		}
	}
}

// removeAllSecrets removes the secrets of a data directory.
func removeAllSecrets(dir string) error {
	allocs, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, a := range allocs {
		if err := unmountTasks(filepath.Join(dir, a.Name())); err != nil {
			return err
		}
	}
	return removeAll(filepath.Dir(dir), filepath.Base(dir))
}

// explainFull adds the remedy to the error of a write to a full directory of secrets.
func (t *Tree) explainFull(alloc, task, file string, err error) error {
	if !strings.HasPrefix(path.Clean(file), "secrets/") || !t.inMemory || !errors.Is(err, unix.ENOSPC) {
		return err
	}
	var st unix.Statfs_t
	if unix.Statfs(t.Task(alloc, task).Secrets, &st) != nil {
		return err
	}
	return fmt.Errorf("%w: the directory of secrets has %d MiB: set resources { secrets = MB } in the task", err, int64(st.Blocks)*st.Bsize>>20)
}
