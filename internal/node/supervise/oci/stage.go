// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// stages lists directories that machines have. The root of a user namespace must reach the
// mounts, which it may not below the agent's own directories. Directories of the machine serve,
// because the mounts on them are in no other process's view.
var stages = []string{"/mnt", "/media", "/srv", "/opt", "/home", "/var/tmp", "/tmp"}

// Stages returns directories for Spec.Stage and Spec.Root that hide none of the given paths.
func Stages(needed ...string) (stage, root string, err error) {
	var found []string
	for _, dir := range stages {
		if st, err := os.Lstat(dir); err == nil && st.IsDir() && st.Mode()&0o001 != 0 && !hides(dir, needed) {
			found = append(found, dir)
		}
	}
	if len(found) < 2 {
		return "", "", fmt.Errorf("fewer than two of the directories %s can hold the mounts of a container: create /mnt and /media with mode 0755", strings.Join(stages, ", "))
	}
	return found[0], found[1], nil
}

func hides(stage string, paths []string) bool {
	for _, p := range paths {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			p = real
		}
		if p == stage || strings.HasPrefix(p, stage+"/") {
			return true
		}
	}
	return false
}

// StageBind returns the path of Binds[n] for the runtime.
func StageBind(stage string, n int) string { return stage + "/binds/" + strconv.Itoa(n) }
