// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package layer

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

// A Size is the extent of an unpacked layer.
type Size struct {
	Bytes   int64 // content, rounded up to blocks
	Entries int64
	Skipped int64 // devices and entries of unknown types
}

// block is the unit in which files occupy the disk.
const block = 4096

// Apply unpacks a tar archive below root, an empty directory that no other process can reach.
// On failure the directory holds a part of the layer, and the caller removes it. Apply reads
// the archive up to its end marker. It does not sync.
func Apply(root *beneath.Dir, archive io.Reader, budget *Budget) (Size, error) {
	u := &unpacker{root: root, budget: budget, tar: tar.NewReader(archive), privileged: os.Geteuid() == 0, buf: make([]byte, 256<<10)}
	defer u.closeParent()
	for {
		h, err := u.tar.Next()
		if err == io.EOF {
			return u.size, u.setTimes()
		}
		if err != nil {
			return u.size, fmt.Errorf("read the layer's archive: %w", err)
		}
		if err := u.entry(h); err != nil {
			return u.size, fmt.Errorf("unpack %s: %w", shorten(h.Name), err)
		}
	}
}

// An unpacker holds the state of one Apply.
type unpacker struct {
	root       *beneath.Dir
	budget     *Budget
	tar        *tar.Reader
	privileged bool
	size       Size
	dirs       []dirTime // directories whose times are set at the end
	buf        []byte

	// The parent of the last entry; most entries share it with the next one. A change of a
	// directory or link can redirect its path and closes it.
	parent     *beneath.Dir
	parentPath string
}

type dirTime struct {
	path  string
	mtime time.Time
}

// shorten makes a name fit into a message.
func shorten(name string) string {
	if len(name) > 100 {
		return fmt.Sprintf("%q...", name[:100])
	}
	return fmt.Sprintf("%q", name)
}

const (
	whiteoutPrefix = ".wh."
	reservedPrefix = ".wh..wh."
	opaqueName     = ".wh..wh..opq"
)

// locate returns the parent and the last component of an entry's name. Both are empty for the
// root.
func (u *unpacker) locate(what, name string) (dir, base string, err error) {
	if err := u.budget.path(what, name); err != nil {
		return "", "", err
	}
	if strings.IndexByte(name, 0) >= 0 {
		return "", "", fmt.Errorf("%s contains a NUL byte", what)
	}
	clean := path.Clean(strings.TrimLeft(name, "/"))
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return "", "", fmt.Errorf("%s leads out of the layer", what)
	}
	if clean == "." {
		return "", "", nil
	}
	dir, base = path.Split(clean)
	dir = strings.TrimSuffix(dir, "/")
	if strings.HasPrefix(dir, whiteoutPrefix) || strings.Contains(dir, "/"+whiteoutPrefix) {
		return "", "", fmt.Errorf("%s is below a whiteout", what)
	}
	return dir, base, nil
}

func (u *unpacker) entry(h *tar.Header) error {
	switch h.Typeflag {
	case tar.TypeXGlobalHeader:
		return nil
	case tar.TypeDir, tar.TypeReg, tar.TypeSymlink, tar.TypeLink, tar.TypeFifo, tar.TypeGNUSparse:
	default: // devices: see the package comment
		u.size.Skipped++
		return u.budget.Entries(1)
	}
	u.size.Entries++
	if err := u.budget.Entries(1); err != nil {
		return err
	}
	if err := checkOwner(h); err != nil {
		return err
	}
	dir, base, err := u.locate("the name", h.Name)
	if err != nil {
		return err
	}
	if base == "" {
		if h.Typeflag != tar.TypeDir {
			return errors.New("the layer's root is not a directory")
		}
		u.dirs = append(u.dirs, dirTime{".", h.ModTime})
		return u.setDir(u.root, h)
	}
	parent, err := u.openParent(dir)
	if err != nil {
		return err
	}
	if strings.HasPrefix(base, whiteoutPrefix) {
		return u.whiteout(parent, base)
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return u.directory(parent, base, path.Join(dir, base), h)
	case tar.TypeSymlink:
		return u.symlink(parent, base, h)
	case tar.TypeLink:
		return u.hardLink(parent, base, h)
	case tar.TypeFifo:
		return u.fifo(parent, base, h)
	}
	return u.file(parent, base, h)
}

// openParent opens the directory of an entry, and creates missing directories: archives may
// leave these out.
func (u *unpacker) openParent(dir string) (*beneath.Dir, error) {
	if dir == "" {
		return u.root, nil
	}
	if u.parent != nil && u.parentPath == dir {
		return u.parent, nil
	}
	d, err := u.root.InRoot(dir)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		d, err = u.makeParent(dir)
	}
	if err != nil {
		return nil, err
	}
	u.closeParent()
	u.parent, u.parentPath = d, dir
	return d, nil
}

func (u *unpacker) makeParent(dir string) (*beneath.Dir, error) {
	// Component by component from the top: a name in the middle can be a whiteout.
	for i := 0; i <= len(dir); i++ {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		d, err := u.root.InRoot(dir[:i])
		if err == nil {
			d.Close()
			continue
		}
		above, base := path.Split(dir[:i])
		in, err := u.root.InRoot(path.Clean("/" + above))
		if err != nil {
			return nil, err
		}
		err = u.makeMissing(in, base)
		in.Close()
		if err != nil {
			return nil, err
		}
	}
	return u.root.InRoot(dir)
}

// makeMissing creates a directory that the archive names no entry for, or none so far.
func (u *unpacker) makeMissing(in *beneath.Dir, base string) error {
	u.size.Entries++
	if err := u.budget.Entries(1); err != nil {
		return err
	}
	kind, err := kindOf(in, base)
	if err != nil {
		return err
	}
	switch kind {
	case 0:
	case unix.S_IFCHR: // a whiteout of this layer: the directory replaces a lower one
		if err := in.Remove(base); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%s is not a directory", shorten(base))
	}
	d, err := in.Make(base, 0o755)
	if err != nil {
		return err
	}
	defer d.Close()
	if kind == unix.S_IFCHR {
		return u.setOpaque(d)
	}
	return nil
}

func (u *unpacker) closeParent() {
	if u.parent != nil {
		u.parent.Close()
		u.parent = nil
	}
}

// kindOf returns the type bits of a name's mode, 0 if the name does not exist.
func kindOf(in *beneath.Dir, base string) (uint32, error) {
	var st unix.Stat_t
	switch err := unix.Fstatat(in.Fd(), base, &st, unix.AT_SYMLINK_NOFOLLOW); err {
	case nil:
		return st.Mode & unix.S_IFMT, nil
	case unix.ENOENT:
		return 0, nil
	default:
		return 0, fmt.Errorf("inspect %s: %w", shorten(base), err)
	}
}

// replace removes the earlier entry of a name. It reports whether that entry was a whiteout.
func (u *unpacker) replace(in *beneath.Dir, base string) (whiteout bool, err error) {
	kind, err := kindOf(in, base)
	if err != nil || kind == 0 {
		return false, err
	}
	if kind == unix.S_IFDIR || kind == unix.S_IFLNK {
		// The open parent's path may lead through this entry. The caller still uses the
		// handle, so only the path is forgotten.
		u.parentPath = ""
	}
	if kind == unix.S_IFDIR {
		return false, in.RemoveAll(base)
	}
	return kind == unix.S_IFCHR, in.Remove(base)
}

// setTimes sets the times of directories, which their entries have changed. A directory that a
// later entry replaced no longer has one.
func (u *unpacker) setTimes() error {
	for i := len(u.dirs) - 1; i >= 0; i-- {
		d := u.dirs[i]
		dir, base := path.Split(d.path)
		in, err := u.root.InRoot(path.Clean("/" + dir))
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
			continue
		}
		if err != nil {
			return err
		}
		kind, err := kindOf(in, base)
		if err == nil && kind == unix.S_IFDIR {
			err = setTime(in, base, d.mtime)
		}
		in.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
