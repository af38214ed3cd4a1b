// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

// kept returns the directories of an allocation that its replacement inherits, as
// slash-separated paths.
func kept(tasks []string) []string {
	dirs := []string{"alloc/data"}
	for _, task := range tasks {
		dirs = append(dirs, task+"/local")
	}
	return dirs
}

// maxNested bounds the depth of packed directories: a task can nest so many that a walk would
// take too long.
const maxNested = 256

// Pack writes the data of an ended allocation as a tar archive: the directories that Inherit
// would move. It leaves out sockets, devices and pipes.
func (t *Tree) Pack(alloc string, tasks []string, w io.Writer) error {
	root, err := os.OpenRoot(t.Root(alloc))
	if errors.Is(err, fs.ErrNotExist) {
		return tar.NewWriter(w).Close()
	}
	if err != nil {
		return fmt.Errorf("open the allocation's directory: %w", err)
	}
	defer root.Close()
	out := tar.NewWriter(w)
	for _, dir := range kept(tasks) {
		err := fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if strings.Count(name, "/") > maxNested {
				return fmt.Errorf("directories are nested more than %d deep", maxNested)
			}
			return pack(out, root, name)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("pack %s: %w", dir, err)
		}
	}
	return out.Close()
}

// pack adds one file, directory or link.
func pack(out *tar.Writer, root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	link := ""
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		if link, err = root.Readlink(name); err != nil {
			return err
		}
	case !mode.IsRegular() && !mode.IsDir():
		return nil
	}
	header, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	header.Name = name
	if info.IsDir() {
		header.Name += "/"
	}
	if err := out.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, _, err := beneath.File(root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyN(out, f, header.Size)
	return err
}

// Unpack creates the directory of an allocation that has none from the archive that Pack
// wrote for another allocation. On failure it removes the directory.
func (t *Tree) Unpack(alloc string, tasks []string, r io.Reader) (err error) {
	if err := removeAll(t.root, alloc); err != nil {
		return fmt.Errorf("make room for the data: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("unpack the data: %w", err), removeAll(t.root, alloc))
		}
	}()
	if err := makeDir(t.Root(alloc), 0o755); err != nil {
		return err
	}
	for _, task := range tasks {
		if err := makeDir(t.Task(alloc, task).Task, 0o755); err != nil {
			return err
		}
	}
	if err := makeDir(t.Task(alloc, "").Alloc, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(t.Root(alloc))
	if err != nil {
		return err
	}
	defer root.Close()
	in := tar.NewReader(r)
	for {
		header, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := unpack(root, header, in, kept(tasks)); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
}

// unpack creates one file, directory or link. No name can lead outside of root,
// not even through links.
func unpack(root *os.Root, h *tar.Header, content io.Reader, dirs []string) error {
	name := path.Clean(h.Name)
	within := false
	for _, dir := range dirs {
		within = within || name == dir || strings.HasPrefix(name, dir+"/")
	}
	if !within {
		return nil // of a task that the group no longer has
	}
	mode := h.FileInfo().Mode().Perm()
	switch h.Typeflag {
	case tar.TypeDir:
		if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	case tar.TypeReg:
		f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		if _, err := io.Copy(f, content); err != nil {
			f.Close()
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	case tar.TypeSymlink:
		if err := root.Symlink(h.Linkname, name); err != nil {
			return err
		}
	default:
		return nil
	}
	if os.Geteuid() == 0 {
		if err := root.Lchown(name, h.Uid, h.Gid); err != nil {
			return err
		}
	}
	if h.Typeflag == tar.TypeSymlink {
		return nil
	}
	if err := root.Chmod(name, mode); err != nil {
		return err
	}
	return root.Chtimes(name, h.ModTime, h.ModTime)
}
