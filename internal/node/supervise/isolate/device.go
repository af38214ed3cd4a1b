// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package isolate

import (
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// placeDevice makes a node of a device in the task's /dev, which belongs to the task's user alone. The task sees
// no other node of it, so that the mode of the node is what the user may do.
func placeDevice(root string, d Device, u *User) error {
	var st unix.Stat_t
	if err := unix.Stat(d.Source, &st); err != nil {
		return &os.PathError{Op: "find the device", Path: d.Source, Err: err}
	}
	kind := st.Mode & unix.S_IFMT
	if kind != unix.S_IFCHR && kind != unix.S_IFBLK {
		return fmt.Errorf("%s is not a device", d.Source)
	}
	parent, err := makeTarget(root, path.Dir(d.Target), true)
	if err != nil {
		return err
	}
	defer unix.Close(parent)
	name := path.Base(d.Target)
	err = unix.Mknodat(parent, name, kind|d.Mode, int(st.Rdev))
	switch {
	case errors.Is(err, unix.EEXIST):
		return fmt.Errorf("the device %s cannot be %s in the task: that path exists", d.Source, d.Target)
	case errors.Is(err, unix.EPERM): // the machine forbids new nodes
		return place(root, Mount{Source: d.Source, Target: d.Target}, 0)
	case err != nil:
		return &os.PathError{Op: "make the device", Path: d.Target, Err: err}
	}
	if err := unix.Fchownat(parent, name, int(u.UID), int(u.GID), unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &os.PathError{Op: "give the user the device", Path: d.Target, Err: err}
	}
	if err := unix.Fchmodat(parent, name, d.Mode, 0); err != nil { // regardless of the umask
		return &os.PathError{Op: "set the mode of the device", Path: d.Target, Err: err}
	}
	return nil
}
