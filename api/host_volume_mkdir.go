// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
)

// Mkdir holds the parameters of the built-in plugin of host volumes.
type Mkdir struct {
	Mode     fs.FileMode // 0700 by default
	UID, GID int         // -1: unchanged
}

// ParseMkdir reads the parameters of the built-in plugin: mode, uid and gid.
func ParseMkdir(parameters map[string]string) (Mkdir, error) {
	m := Mkdir{Mode: 0o700, UID: -1, GID: -1}
	for _, k := range slices.Sorted(maps.Keys(parameters)) {
		text := parameters[k]
		switch k {
		case "mode":
			mode, err := strconv.ParseUint(text, 8, 32)
			if err != nil || mode > 0o7777 || mode&0o6000 != 0 {
				return m, fmt.Errorf("mode %.64q: must be the permissions of a directory in octal, such as \"0755\", without setuid and setgid", text)
			}
			m.Mode = fs.FileMode(mode & 0o777)
			if mode&0o1000 != 0 {
				m.Mode |= fs.ModeSticky
			}
		case "uid", "gid":
			id, err := strconv.ParseUint(text, 10, 32)
			if err != nil || id > 1<<31-1 {
				return m, fmt.Errorf("%s %.64q: must be a number of a user or group, such as \"1000\"", k, text)
			}
			if k == "uid" {
				m.UID = int(id)
			} else {
				m.GID = int(id)
			}
		default:
			return m, fmt.Errorf("%.64q is not a parameter of plugin %q, which has mode, uid and gid", k, PluginMkdir)
		}
	}
	return m, nil
}
