// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

// errDamaged reports a result that is not the one that was fetched.
var errDamaged = errors.New("the cached artifact is damaged")

// A Result is a fetched artifact: a directory filesName with a tree of files.
type Result struct {
	dir     *beneath.Dir
	name    string
	digest  string // "": not verified, because it was just made
	release func()
}

// Release ends the use of the result.
func (r *Result) Release() { r.release() }

// An Owner receives the files of a copy.
type Owner struct {
	UID, GID int
	Set      bool // otherwise the files belong to the agent's user, and everyone can read them
}

// A Target is where a result is placed.
type Target struct {
	Dir   *beneath.Dir // a task may control it
	Name  string       // of the copy, if the result is one file; "": the result's own
	Owner Owner
}

// Place copies the result. It replaces files of the same names and merges directories.
func (r *Result) Place(into Target) error {
	dir, err := r.dir.Dir(r.name)
	if err != nil {
		return err
	}
	defer dir.Close()
	files, err := dir.Dir(filesName)
	if err != nil {
		return err
	}
	defer files.Close()
	c := newCopier()
	c.owner, c.rename = into.Owner, into.Name
	if err := c.tree(files, into.Dir); err != nil {
		return err
	}
	if r.digest != "" && c.sum() != r.digest {
		return errDamaged
	}
	return nil
}

// A copier copies a tree and computes its digest. Source and target are handles, and it follows no
// link on either side.
type copier struct {
	owner  Owner
	rename string // of the only file
	digest hash.Hash
	bytes  int64 // with a block for each entry
	buf    []byte
	depth  int
}

// blockSize is what an entry occupies at least.
const blockSize = 4096

// maxDepth bounds the nesting of directories: each level has open handles.
const maxDepth = 256

func newCopier() *copier { return &copier{digest: sha256.New(), buf: make([]byte, 128<<10)} }

func (c *copier) sum() string { return hex.EncodeToString(c.digest.Sum(nil)) }

// tree copies the content of a directory; into is nil to compute the digest alone.
func (c *copier) tree(from, into *beneath.Dir) error {
	if c.depth++; c.depth > maxDepth {
		return refuse("the archive's directories are nested more than %d deep", maxDepth)
	}
	defer func() { c.depth-- }()
	var names []string
	if err := from.Names(func(name string) { names = append(names, name) }); err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		if err := c.entry(from, into, name); err != nil {
			return err
		}
	}
	fmt.Fprint(c.digest, "end\x00")
	return nil
}

func (c *copier) entry(from, into *beneath.Dir, name string) error {
	var st unix.Stat_t
	if err := unix.Fstatat(from.Fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("read the artifact: %w", err)
	}
	c.bytes += blockSize
	target := name
	if c.rename != "" {
		target = c.rename
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return c.dir(from, into, name, &st)
	case unix.S_IFREG:
		return c.file(from, into, name, target, &st)
	case unix.S_IFLNK:
		return c.link(from, into, name, target)
	}
	return refuse("the artifact contains %s, which is neither a file nor a directory nor a link", name)
}

// mode returns the permissions of a copy. Files that belong to the agent must be readable for the
// task, whoever runs it.
func (c *copier) mode(mode uint32) os.FileMode {
	mode &= 0o777
	if !c.owner.Set {
		mode |= 0o444
		if mode&0o100 != 0 {
			mode |= 0o111
		}
	}
	return os.FileMode(mode)
}

func (c *copier) give(f interface{ Chown(uid, gid int) error }) error {
	if !c.owner.Set {
		return nil
	}
	return f.Chown(c.owner.UID, c.owner.GID)
}

func (c *copier) dir(from, into *beneath.Dir, name string, st *unix.Stat_t) error {
	fmt.Fprintf(c.digest, "dir\x00%s\x00%o\x00", name, st.Mode)
	source, err := from.Dir(name)
	if err != nil {
		return err
	}
	defer source.Close()
	if into == nil {
		return c.tree(source, nil)
	}
	target, err := into.Make(name, c.mode(st.Mode|0o700))
	if err != nil {
		return err
	}
	defer target.Close()
	if err := c.give(target); err != nil {
		return err
	}
	return c.tree(source, target)
}

func (c *copier) file(from, into *beneath.Dir, name, target string, st *unix.Stat_t) error {
	fd, err := unix.Openat(from.Fd(), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: name, Err: err}
	}
	in := os.NewFile(uintptr(fd), name)
	defer in.Close()
	content := sha256.New()
	if into == nil {
		n, err := io.CopyBuffer(struct{ io.Writer }{content}, struct{ io.Reader }{in}, c.buf)
		c.note(name, st, n, content)
		return err
	}
	out, err := into.Create(target, 0o600)
	if err != nil {
		return err
	}
	n, err := io.CopyBuffer(io.MultiWriter(out, content), struct{ io.Reader }{in}, c.buf)
	if err == nil {
		err = c.give(out)
	}
	if err == nil {
		err = out.Chmod(c.mode(st.Mode))
	}
	c.note(name, st, n, content)
	return errors.Join(err, out.Close())
}

func (c *copier) note(name string, st *unix.Stat_t, n int64, content hash.Hash) {
	c.bytes += n
	fmt.Fprintf(c.digest, "file\x00%s\x00%o\x00%d\x00%x\x00", name, st.Mode, n, content.Sum(nil))
}

func (c *copier) link(from, into *beneath.Dir, name, target string) error {
	buf := make([]byte, maxLink+1)
	n, err := unix.Readlinkat(from.Fd(), name, buf)
	if err != nil {
		return &os.PathError{Op: "readlink", Path: name, Err: err}
	}
	to := string(buf[:n])
	fmt.Fprintf(c.digest, "link\x00%s\x00%s\x00", name, to)
	if into == nil {
		return nil
	}
	if err := into.Remove(target); err != nil {
		return err
	}
	if err := into.Link(to, target); err != nil {
		return err
	}
	if !c.owner.Set {
		return nil
	}
	return unix.Fchownat(into.Fd(), target, c.owner.UID, c.owner.GID, unix.AT_SYMLINK_NOFOLLOW)
}
