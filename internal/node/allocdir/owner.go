// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocdir

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Owner is the user that owns a task's directories. The zero value leaves them with the
// agent's user.
type Owner struct {
	uid, gid int
	set      bool
}

// OwnerOf looks up a user: "name", "uid", "name:group" or "uid:gid"; "" is the agent's own
// user.
func OwnerOf(name string) (Owner, error) {
	if name == "" || os.Geteuid() != 0 {
		return Owner{}, nil
	}
	name, group, hasGroup := strings.Cut(name, ":")
	o := Owner{set: true}
	u, err := user.Lookup(name)
	if err == nil {
		o.uid, _ = strconv.Atoi(u.Uid)
		o.gid, _ = strconv.Atoi(u.Gid)
	} else if id, notNumber := strconv.Atoi(name); notNumber == nil && id >= 0 {
		o.uid, o.gid = id, id
		if u, err := user.LookupId(name); err == nil {
			o.gid, _ = strconv.Atoi(u.Gid)
		}
	} else {
		return Owner{}, fmt.Errorf("user %q does not exist on this node", name)
	}
	if hasGroup {
		g, err := user.LookupGroup(group)
		if err == nil {
			o.gid, _ = strconv.Atoi(g.Gid)
		} else if id, notNumber := strconv.Atoi(group); notNumber == nil && id >= 0 {
			o.gid = id
		} else {
			return Owner{}, fmt.Errorf("group %q does not exist on this node", group)
		}
	}
	return o, nil
}

// OwnerAt returns the owner of a directory whose parent belongs to the agent.
func OwnerAt(path string) (Owner, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return Owner{}, fmt.Errorf("find the owner of %s: %w", path, err)
	}
	return Owner{uid: int(st.Uid), gid: int(st.Gid), set: os.Geteuid() == 0}, nil
}

// take gives a file or directory to the owner. It uses an open handle, which no task can
// replace.
func (o Owner) take(f interface{ Chown(uid, gid int) error }) error {
	if !o.set {
		return nil
	}
	if err := f.Chown(o.uid, o.gid); err != nil {
		return fmt.Errorf("give the directory to the task's user: %w", err)
	}
	return nil
}
