// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package beneath

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// maxDepth is how many directories RemoveAll has open at a time. A task can nest
// more of them than a process may open.
const maxDepth = 64

// RemoveAll removes what has the name, and all below it. It follows no link.
// Directories that are nested too deeply are moved up before they are emptied.
func (d *Dir) RemoveAll(name string) error {
	if err := single(name); err != nil {
		return err
	}
	return (&remover{}).remove(d, name, 0)
}

type remover struct {
	top   *Dir // of what is removed; nil until it is open
	moved int  // names given in top
}

// remove removes one entry of a directory.
func (r *remover) remove(d *Dir, name string, depth int) error {
	err := unix.Unlinkat(d.fd(), name, 0)
	if err == nil || err == unix.ENOENT {
		return nil
	}
	switch dirErr := unix.Unlinkat(d.fd(), name, unix.AT_REMOVEDIR); dirErr {
	case nil, unix.ENOENT:
		return nil
	case unix.ENOTDIR:
		return d.fail("remove", name, err)
	}
	if depth == maxDepth {
		return r.moveUp(d, name)
	}
	child, err := d.child(name)
	if err != nil {
		return err
	}
	defer child.Close()
	if r.top == nil {
		r.top = child
	}
	if err := r.empty(child, depth+1); err != nil {
		return err
	}
	if err := unix.Unlinkat(d.fd(), name, unix.AT_REMOVEDIR); err != nil && err != unix.ENOENT {
		return d.fail("remove", name, err)
	}
	return nil
}

// empty removes all entries of a directory. To remove entries may make a listing
// skip others: it is listed until there are none.
func (r *remover) empty(d *Dir, depth int) error {
	for {
		entries, removed := 0, 0
		var failed error
		err := d.Names(func(name string) {
			entries++
			switch err := r.remove(d, name, depth); {
			case err == nil:
				removed++
			case failed == nil:
				failed = err
			}
		})
		switch {
		case err != nil:
			return err
		case entries == 0:
			return nil
		case removed == 0:
			return failed
		}
	}
}

// moveUp moves a directory to the top, where it is found again.
func (r *remover) moveUp(d *Dir, name string) error {
	for {
		r.moved++
		switch err := unix.Renameat(d.fd(), name, r.top.fd(), "moved-"+strconv.Itoa(r.moved)); err {
		case nil:
			return nil
		case unix.EEXIST, unix.ENOTEMPTY, unix.ENOTDIR: // a task has given something that name
		default:
			return d.fail("move", name, err)
		}
	}
}
