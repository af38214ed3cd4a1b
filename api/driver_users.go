// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Attributes of nodes about the users that a driver's tasks may run as.
const (
	attrDefaultUser  = ".user"
	attrAllowedUsers = ".allowed_users"
	attrDeniedUIDs   = ".denied_host_uids"
	attrDeniedGIDs   = ".denied_host_gids"
)

// IDRanges are ranges of numbers of users or groups, as in "0,1000-2000".
type IDRanges [][2]uint32

// ParseIDRanges reads ranges from a configuration.
func ParseIDRanges(text string) (IDRanges, error) {
	var all IDRanges
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			high = low
		}
		first, err1 := strconv.ParseUint(low, 10, 32)
		last, err2 := strconv.ParseUint(high, 10, 32)
		if err1 != nil || err2 != nil || first > last {
			return nil, fmt.Errorf("%.64q is no number and no range of numbers: write them as in \"0,1000-2000\"", strings.TrimSpace(part))
		}
		all = append(all, [2]uint32{uint32(first), uint32(last)})
	}
	return all, nil
}

// Contains reports whether a number is in one of the ranges.
func (r IDRanges) Contains(id uint32) bool {
	return slices.ContainsFunc(r, func(x [2]uint32) bool { return x[0] <= id && id <= x[1] })
}

// String formats the ranges as ParseIDRanges reads them.
func (r IDRanges) String() string {
	var parts []string
	for _, x := range r {
		if x[0] == x[1] {
			parts = append(parts, strconv.FormatUint(uint64(x[0]), 10))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", x[0], x[1]))
		}
	}
	return strings.Join(parts, ",")
}

// DriverUsers are an operator's rules about the users that the tasks of a driver run as on a node.
type DriverUsers struct {
	Allowed    []string // users that tasks may name; none: all
	DeniedUIDs IDRanges
	DeniedGIDs IDRanges
}

// Publish adds the rules to the attributes of a node, together with the user of tasks that name none.
func (u *DriverUsers) Publish(driver, defaultUser string, attributes map[string]string) {
	for name, value := range map[string]string{
		attrAllowedUsers: strings.Join(u.Allowed, ","), attrDeniedUIDs: u.DeniedUIDs.String(), attrDeniedGIDs: u.DeniedGIDs.String(),
	} {
		if value != "" {
			attributes["driver."+driver+name] = value
			attributes["driver."+driver+attrDefaultUser] = defaultUser
		}
	}
}

// PermitName returns an error if tasks may not name the user. The whole configuration is in the block
// client { DRIVER { } }.
func (u *DriverUsers) PermitName(driver, user string) error {
	if len(u.Allowed) == 0 || slices.Contains(u.Allowed, user) {
		return nil
	}
	return fmt.Errorf("user %.64q is not permitted for driver %s on this node: add it to allowed_users in client { %s { } } of its agent's configuration", user, driver, driver)
}

// PermitIDs returns an error if tasks may not have the numbers of a user and its groups.
func (u *DriverUsers) PermitIDs(driver string, uid uint32, gids []uint32) error {
	if u.DeniedUIDs.Contains(uid) {
		return fmt.Errorf("user id %d is not permitted for driver %s on this node: take it out of denied_host_uids in client { %s { } } of its agent's configuration, or run the task as another user", uid, driver, driver)
	}
	for _, gid := range gids {
		if u.DeniedGIDs.Contains(gid) {
			return fmt.Errorf("group id %d is not permitted for driver %s on this node: take it out of denied_host_gids in client { %s { } } of its agent's configuration, or run the task as another user", gid, driver, driver)
		}
	}
	return nil
}

// UserMismatch returns why the node's operator does not let a task run as its user; "" if nothing is known
// against it. Only the node knows the numbers of most users.
func UserMismatch(n *Node, t *Task) string {
	prefix := "driver." + t.Driver
	user := t.User
	if user == "" {
		user = n.Attributes[prefix+attrDefaultUser]
	}
	if user == "" || strings.Contains(user, "${") {
		return ""
	}
	var rules DriverUsers
	if allowed := n.Attributes[prefix+attrAllowedUsers]; allowed != "" {
		rules.Allowed = strings.Split(allowed, ",")
	}
	rules.DeniedUIDs, _ = ParseIDRanges(n.Attributes[prefix+attrDeniedUIDs])
	if err := rules.PermitName(t.Driver, user); err != nil {
		return err.Error()
	}
	uid, err := strconv.ParseUint(user, 10, 32)
	if err != nil && user != "root" {
		return ""
	}
	if err := rules.PermitIDs(t.Driver, uint32(uid), nil); err != nil {
		return err.Error()
	}
	return ""
}
