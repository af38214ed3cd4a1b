// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"fmt"
	"os"
	"os/user"
	"strconv"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/beneath"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
)

// Own gives directories to the user, so that a task can write to them. It rejects objects that
// an earlier run of the task put in their place, such as links.
func (u *User) Own(dirs ...string) error {
	if u == nil {
		return nil
	}
	for _, d := range dirs {
		if err := beneath.Chown(d, int(u.UID), int(u.GID)); err != nil {
			return fmt.Errorf("give the task's directory to its user: %w", err)
		}
	}
	return nil
}

// LookupUser finds a user of this machine by name or number. It returns nil for the user that
// the agent runs as.
func LookupUser(name string) (*User, error) {
	if name == "" {
		return nil, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		if uid, numErr := strconv.ParseUint(name, 10, 32); numErr == nil {
			if uid == isolate.Unchanged {
				return nil, fmt.Errorf("user %s cannot run a task: to the kernel, this number means that the user stays unchanged; name another user", name)
			}
			if u, err = user.LookupId(name); err != nil {
				// A number needs no entry in the user database.
				return &User{UID: uint32(uid), GID: uint32(uid)}, nil
			}
		} else {
			return nil, fmt.Errorf("user %s does not exist on this machine", name)
		}
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	if uidErr != nil || gidErr != nil {
		return nil, fmt.Errorf("user %s has no numeric ids", name)
	}
	if os.Geteuid() != 0 {
		if uint64(os.Geteuid()) == uid {
			return nil, nil
		}
		return nil, fmt.Errorf("cannot run as user %s: the agent does not run as root", name)
	}
	r := &User{UID: uint32(uid), GID: uint32(gid)}
	groups, _ := u.GroupIds()
	for _, g := range groups {
		if n, err := strconv.ParseUint(g, 10, 32); err == nil {
			r.Groups = append(r.Groups, uint32(n))
		}
	}
	return r, nil
}

// PermitUser returns an error if an operator's rules forbid tasks of a driver to run as a user. name is how
// the task names it.
func PermitUser(rules *api.DriverUsers, driver, name string, u *User) error {
	if err := rules.PermitName(driver, name); err != nil {
		return err
	}
	if u == nil {
		u = &User{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}
		groups, err := os.Getgroups()
		if err != nil {
			return fmt.Errorf("read the groups of the agent: %w", err)
		}
		for _, g := range groups {
			u.Groups = append(u.Groups, uint32(g))
		}
	}
	return rules.PermitIDs(driver, u.UID, append([]uint32{u.GID}, u.Groups...))
}
