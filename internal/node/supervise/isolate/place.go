// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package isolate

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Tasks of any user wrote to the sources of mounts, and to the directories in which targets
// lie: a volume may be mounted below another one, or below the task's own directories. So
// neither path is resolved by its name: a link that a task left in it must not lead out.

// cloneShared returns copies of the mounts that have propagation, by their position; 0: none.
func cloneShared(mounts []Mount) ([]int, error) {
	clones := make([]int, len(mounts))
	for i, m := range mounts {
		if m.Propagation == "" || m.Propagation == "private" {
			continue
		}
		fd, err := openSource(m)
		if err != nil {
			return nil, err
		}
		clones[i], err = unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
		unix.Close(fd)
		if err != nil {
			return nil, fmt.Errorf("copy the mount of %s, for propagation_mode %q: %w", m.Source, m.Propagation, err)
		}
	}
	return clones, nil
}

// place mounts a directory or file at its target below root, which it creates.
func place(root string, m Mount, clone int) error {
	source, err := openSource(m)
	if err != nil {
		return err
	}
	defer unix.Close(source)
	var st unix.Stat_t
	if err := unix.Fstat(source, &st); err != nil {
		return &os.PathError{Op: "stat", Path: m.Source, Err: err}
	}
	target, err := makeTarget(root, m.Target, st.Mode&unix.S_IFMT == unix.S_IFDIR)
	if err != nil {
		return err
	}
	defer unix.Close(target)
	at := "/proc/self/fd/" + strconv.Itoa(target)
	if clone == 0 {
		if err := mount("/proc/self/fd/"+strconv.Itoa(source), at, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("show %s to the task: %w", m.Source, err)
		}
		return nil
	}
	defer unix.Close(clone)
	if err := unix.MoveMount(clone, "", target, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		return fmt.Errorf("show %s to the task: %w", m.Source, err)
	}
	if m.Propagation == "host-to-task" {
		return mount("", root+m.Target, "", unix.MS_REC|unix.MS_SLAVE, "")
	}
	return nil
}

// openSource opens the source of a mount without following a link in its place, and if the mount
// says so, on the way.
func openSource(m Mount) (int, error) {
	source := m.Source
	if !filepath.IsAbs(source) {
		return 0, fmt.Errorf("show %s to the task: the path is not absolute", source)
	}
	if !m.WithoutLink {
		parent, err := unix.Open(filepath.Dir(source), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return 0, &os.PathError{Op: "open", Path: filepath.Dir(source), Err: err}
		}
		defer unix.Close(parent)
		fd, err := openPart(parent, filepath.Base(source), true, nil)
		return fd, sourceError(source, err)
	}
	fd, err := unix.Openat2(unix.AT_FDCWD, source, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // an old kernel, or a filter
		fd, err = walk("/", strings.TrimPrefix(source, "/"), nil)
	}
	return fd, sourceError(source, err)
}

func sourceError(source string, err error) error {
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR):
		return fmt.Errorf("show %s to the task: it is a symbolic link, or one is on the way", source)
	case err != nil:
		return &os.PathError{Op: "open", Path: source, Err: err}
	}
	return nil
}

// makeTarget opens the path of a mount below root, and creates its missing parts.
func makeTarget(root, target string, isDir bool) (int, error) {
	target = strings.TrimPrefix(path.Clean("/"+target), "/")
	dir, name := path.Split(target)
	fd, err := walk(root, path.Join(dir, name), func(parent int, name string, last bool) error {
		if !last || isDir {
			return unix.Mkdirat(parent, name, 0o755)
		}
		fd, err := unix.Openat(parent, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644)
		if err == nil {
			unix.Close(fd)
		}
		return err
	})
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR):
		return 0, fmt.Errorf("mount at /%s: a symbolic link or a file is on the way: choose another destination", target)
	case errors.Is(err, unix.EROFS):
		return 0, fmt.Errorf("mount at /%s: the directory does not exist on the node, and cannot be created in its programs and libraries: choose another destination, such as /data", target)
	case err != nil:
		return 0, &os.PathError{Op: "mount at", Path: "/" + target, Err: err}
	}
	return fd, nil
}

// walk opens a path below a directory component by component, and follows no link. create makes a
// missing component; nil: it is an error.
func walk(root, target string, create func(parent int, name string, last bool) error) (int, error) {
	at, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	parts := strings.Split(target, "/")
	for i, name := range parts {
		if name == "" {
			continue
		}
		next, err := openPart(at, name, i == len(parts)-1, create)
		unix.Close(at)
		if err != nil {
			return 0, err
		}
		at = next
	}
	return at, nil
}

func openPart(parent int, name string, last bool, create func(int, string, bool) error) (int, error) {
	flags := unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC
	if !last {
		flags |= unix.O_DIRECTORY
	}
	fd, err := unix.Openat(parent, name, flags, 0)
	if errors.Is(err, unix.ENOENT) && create != nil {
		if err := create(parent, name, last); err != nil && !errors.Is(err, unix.EEXIST) {
			return 0, err
		}
		fd, err = unix.Openat(parent, name, flags, 0)
	}
	if err != nil || !last {
		return fd, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return 0, err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		unix.Close(fd)
		return 0, unix.ELOOP
	}
	return fd, nil
}
