// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A user is the resolved user of a container's processes.
type user struct {
	uid, gid uint32
	groups   []uint32
	home     string
}

// maxUserFile bounds the part of an image's passwd and group that is read, in bytes.
const maxUserFile = 1 << 20

// user resolves "NAME", "UID", "NAME:GROUP" or "UID:GID" with the image's own files, and further
// groups. "" is root.
func (i *imageRoot) user(text string, further []string) (u user, err error) {
	passwd, err := i.table("etc/passwd")
	if err != nil {
		return u, err
	}
	groups, err := i.table("etc/group")
	if err != nil {
		return u, err
	}
	return findUser(text, further, passwd, groups)
}

// UserOf returns the numbers of a user of an image, whose files read returns. A missing file is empty.
func UserOf(text string, read func(path string) ([]byte, error)) (uid, gid int, err error) {
	var tables [2][][]string
	for n, path := range []string{"/etc/passwd", "/etc/group"} {
		b, err := read(path)
		if err != nil {
			return 0, 0, fmt.Errorf("read %s of the image: %w", path, err)
		}
		tables[n] = rows(bytes.NewReader(b))
	}
	u, err := findUser(text, nil, tables[0], tables[1])
	return int(u.uid), int(u.gid), err
}

// rows splits the lines of a file at their colons.
func rows(r io.Reader) (rows [][]string) {
	for lines := bufio.NewScanner(io.LimitReader(r, maxUserFile)); lines.Scan(); {
		rows = append(rows, strings.Split(lines.Text(), ":"))
	}
	return rows
}

func findUser(text string, further []string, passwd, groups [][]string) (u user, err error) {
	name, group, hasGroup := strings.Cut(text, ":")
	if name == "" {
		name = "0"
	}
	number, isNumber := parseID(name)
	entry := slices.IndexFunc(passwd, func(f []string) bool {
		return len(f) >= 6 && (f[0] == name || isNumber && f[2] == name)
	})
	switch {
	case entry >= 0:
		var ok1, ok2 bool
		u.uid, ok1 = parseID(passwd[entry][2])
		u.gid, ok2 = parseID(passwd[entry][3])
		if u.home = passwd[entry][5]; !ok1 || !ok2 {
			return u, fmt.Errorf("user %q has no numeric ids in the image's /etc/passwd", name)
		}
		for _, g := range groups {
			if id, ok := groupID(g); ok && len(g) >= 4 && !hasGroup && slices.Contains(strings.Split(g[3], ","), passwd[entry][0]) {
				u.groups = append(u.groups, id)
			}
		}
	case isNumber:
		u.uid = number // a number needs no entry
	default:
		return u, fmt.Errorf("user %q does not exist in the image: its /etc/passwd has no such name; use a number", name)
	}
	if hasGroup && group != "" {
		if u.gid, err = findGroup(groups, group); err != nil {
			return u, err
		}
	}
	for _, g := range further {
		id, err := findGroup(groups, g)
		if err != nil {
			return u, err
		}
		u.groups = append(u.groups, id)
	}
	slices.Sort(u.groups)
	u.groups = slices.Compact(u.groups)
	return u, nil
}

func findGroup(groups [][]string, name string) (uint32, error) {
	for _, g := range groups {
		if id, ok := groupID(g); ok && g[0] == name {
			return id, nil
		}
	}
	if id, ok := parseID(name); ok {
		return id, nil
	}
	return 0, fmt.Errorf("group %q does not exist in the image: its /etc/group has no such name; use a number", name)
}

func groupID(fields []string) (uint32, bool) {
	if len(fields) < 3 {
		return 0, false
	}
	return parseID(fields[2])
}

// parseID parses a number that a user or group can have in a container.
func parseID(s string) (uint32, bool) {
	n, err := strconv.ParseUint(s, 10, 31)
	return uint32(n), err == nil
}

// table reads a file of lines with colons from the image, as the container will see it. An image
// without the file has an empty table.
func (i *imageRoot) table(path string) ([][]string, error) {
	for _, layer := range slices.Backward(i.layers) {
		f, below, err := openInLayer(layer, path)
		if err != nil {
			return nil, fmt.Errorf("read /%s of the image: %w", path, err)
		}
		if f != nil {
			defer f.Close()
			return rows(f), nil
		}
		if !below {
			return nil, nil
		}
	}
	return nil, nil
}

// openInLayer opens a regular file of a layer, with the layer as the root of its links. Without
// the file, below reports whether lower layers may have it.
func openInLayer(layer, path string) (f *os.File, below bool, err error) {
	dir, err := unix.Open(layer, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false, err
	}
	defer unix.Close(dir)
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(dir, path, &how)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		parent, _, _ := strings.Cut(path, "/")
		return nil, !hidesLower(dir, parent, &how), nil
	}
	if err != nil {
		return nil, false, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, false, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, false, nil // a whiteout, or something that holds no users
	}
	f, err = os.Open("/proc/self/fd/" + strconv.Itoa(fd))
	return f, false, err
}

// hidesLower reports whether a layer hides a directory of lower ones.
func hidesLower(dir int, name string, how *unix.OpenHow) bool {
	fd, err := unix.Openat2(dir, name, how)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return true
	}
	value := make([]byte, 1)
	n, err := unix.Getxattr("/proc/self/fd/"+strconv.Itoa(fd), "trusted.overlay.opaque", value)
	return err == nil && n == 1 && value[0] == 'y'
}
