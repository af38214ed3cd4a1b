// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"path/filepath"
	"slices"
)

// Name returns the group's name in its tree.
func (g *Group) Name() string {
	if dirs := g.Dirs(); len(dirs) > 0 {
		return filepath.Base(dirs[0])
	}
	return ""
}

// RemoveOthers removes the directories of an empty group from the hierarchies that only container
// runtimes use; for the name "", those of all groups. Directories with processes stay.
func (t *Tree) RemoveOthers(name string) {
	for _, parent := range t.others {
		if name != "" {
			removeTree(filepath.Join(parent, name))
			continue
		}
		for _, n := range subdirs(parent) {
			removeTree(filepath.Join(parent, n))
		}
	}
}

func removeTree(dir string) {
	for _, d := range tree(dir) {
		(&Group{}).removeDir(d)
	}
}

// sweepOthers removes the directories of trees that no longer exist from the hierarchies that
// only container runtimes use.
func (t *Tree) sweepOthers() {
	var exist []string
	for _, d := range t.dirs() {
		exist = append(exist, subdirs(filepath.Dir(d))...)
	}
	for _, d := range t.others {
		for _, name := range subdirs(filepath.Dir(d)) {
			if !slices.Contains(exist, name) {
				removeTree(filepath.Join(filepath.Dir(d), name))
			}
		}
	}
}
