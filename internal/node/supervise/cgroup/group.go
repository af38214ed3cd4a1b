// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A Group holds the processes of one task. The zero Group holds none, where
// the machine has no cgroups that may be written.
type Group struct {
	unified string   // directory in the v2 hierarchy, or ""
	v1      []string // directories in v1 hierarchies, which a process joins by itself
}

// Load names a group again by its Dirs.
func Load(dirs []string) *Group {
	g := &Group{}
	for _, d := range dirs {
		if _, err := os.Stat(filepath.Join(d, "cgroup.controllers")); err == nil && g.unified == "" {
			g.unified = d
		} else {
			g.v1 = append(g.v1, d)
		}
	}
	return g
}

// Dirs are the group's directories, the one that finds all processes first.
func (g *Group) Dirs() []string {
	if g.unified == "" {
		return slices.Clone(g.v1)
	}
	return append([]string{g.unified}, g.v1...)
}

// IsZero reports that there is no group.
func (g *Group) IsZero() bool { return g == nil || g.unified == "" && len(g.v1) == 0 }

// OpenUnified opens the v2 directory, to start a process right in it; nil when
// there is none.
func (g *Group) OpenUnified() (*os.File, error) {
	if g.unified == "" {
		return nil, nil
	}
	return os.Open(g.unified)
}

// JoinDirs are the directories that a process must join by itself, by writing
// 0 to their cgroup.procs, or a thread to their tasks: v1 cannot start a
// process in a group.
func (g *Group) JoinDirs() []string { return g.v1 }

// Procs lists the processes in the group and in groups below it.
func (g *Group) Procs() []int {
	dirs := g.Dirs()
	if len(dirs) == 0 {
		return nil
	}
	var pids []int
	for _, d := range tree(dirs[0]) {
		for _, f := range fields(filepath.Join(d, "cgroup.procs")) {
			if pid, err := strconv.Atoi(f); err == nil && pid > 0 {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// OOMKills counts the processes of the group that the kernel killed for their
// memory.
func (g *Group) OOMKills() int {
	if g.unified != "" {
		if n, ok := counter(filepath.Join(g.unified, "memory.events"), "oom_kill"); ok {
			return n
		}
	}
	for _, d := range g.v1 {
		if n, ok := counter(filepath.Join(d, "memory.oom_control"), "oom_kill"); ok {
			return n
		}
	}
	return 0
}

func counter(path, key string) (int, bool) {
	f := fields(path)
	for i := 0; i+1 < len(f); i += 2 {
		if f[i] == key {
			n, err := strconv.Atoi(f[i+1])
			return n, err == nil
		}
	}
	return 0, false
}

// Remove removes the group's directories. Those that still hold a process
// stay; the error says so.
func (g *Group) Remove() error {
	var first error
	for _, d := range g.Dirs() {
		for _, sub := range tree(d) {
			if err := os.Remove(sub); err != nil && !os.IsNotExist(err) && first == nil {
				first = err
			}
		}
	}
	return first
}

// tree lists dir and all directories below it, the deepest first.
func tree(dir string) []string {
	// A directory has a link from each directory in it, so two mean none: most
	// groups need no listing of their many files.
	var st unix.Stat_t
	if unix.Stat(dir, &st) == nil && st.Nlink == 2 {
		return []string{dir}
	}
	var dirs []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() {
			dirs = append(dirs, tree(filepath.Join(dir, e.Name()))...)
		}
	}
	return append(dirs, dir)
}

// Groups lists the groups of the tree that exist, whoever made them.
func (t *Tree) Groups() []*Group {
	byName := map[string]*Group{}
	at := func(name string) *Group {
		if byName[name] == nil {
			byName[name] = &Group{}
		}
		return byName[name]
	}
	for _, name := range subdirs(t.unified) {
		at(name).unified = filepath.Join(t.unified, name)
	}
	for _, parent := range t.v1 {
		for _, name := range subdirs(parent) {
			g := at(name)
			if d := filepath.Join(parent, name); !slices.Contains(g.v1, d) {
				g.v1 = append(g.v1, d)
			}
		}
	}
	var groups []*Group
	for _, g := range byName {
		groups = append(groups, g)
	}
	return groups
}

// Remove removes the tree's own directories when it has no groups any more.
func (t *Tree) Remove() {
	for _, d := range t.dirs() {
		os.Remove(d)
	}
}

func values(m map[string]string) []string {
	var v []string
	for _, d := range m {
		v = append(v, d)
	}
	return v
}

func subdirs(dir string) []string {
	if dir == "" {
		return nil
	}
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}
