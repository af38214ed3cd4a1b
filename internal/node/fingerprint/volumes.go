// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package fingerprint

import (
	"os"
	"path/filepath"

	"github.com/reeve-run/reeve/api"
)

// HostVolumes returns the configured volumes that are directories, and for each other one the
// reason. No path may contain a symbolic link: a task with a volume above it could replace the
// directory by a link to any other one.
func HostVolumes(configured map[string]*api.HostVolumeInfo) (found map[string]*api.HostVolumeInfo, missing map[string]string) {
	missing = map[string]string{}
	for name, c := range configured {
		if why := unusable(c.Path); why != "" {
			missing[name] = c.Path + " " + why
			continue
		}
		if found == nil {
			found = map[string]*api.HostVolumeInfo{}
		}
		found[name] = &api.HostVolumeInfo{Path: c.Path, ReadOnly: c.ReadOnly}
	}
	return found, missing
}

// unusable says why a path cannot be a volume; "" if it can.
func unusable(path string) string {
	resolved, err := filepath.EvalSymlinks(path)
	switch {
	case err != nil:
		return "does not exist"
	case resolved != path:
		return "contains a symbolic link: use " + resolved
	case !isDir(path):
		return "is not a directory"
	}
	return ""
}

func isDir(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.IsDir()
}
