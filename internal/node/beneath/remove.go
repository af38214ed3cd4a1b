// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package beneath

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// maxDepth bounds the directories that RemoveAll holds open. A task can nest more than a
// process may open.
const maxDepth = 64

// RemoveAll removes the named entry with everything below it. It follows no link. It moves
// deeply nested directories up before it empties them.
func (d *Dir) RemoveAll(name string) error {
	if err := single(name); err != nil {
		return err
	}
	return (&remover{}).remove(d, name, 0)
}

type remover struct {
	top   *Dir // top directory of the removal; nil until it is open
	moved int  // number of names created in top
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

// empty removes all entries of a directory. Removals can make a listing skip entries, so it
// lists the directory until it is empty.
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

// moveUp moves a directory to the top, where a later listing finds it.
func (r *remover) moveUp(d *Dir, name string) error {
	for {
		r.moved++
		switch err := unix.Renameat(d.fd(), name, r.top.fd(), "moved-"+strconv.Itoa(r.moved)); err {
		case nil:
			return nil
		case unix.EEXIST, unix.ENOTEMPTY, unix.ENOTDIR: // a task created this name
		default:
			return d.fail("move", name, err)
		}
	}
}
