// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Group holds the processes of one task. The zero Group is for machines without writable
// cgroups.
type Group struct {
	unified string   // directory in the v2 hierarchy, or ""
	v1      []string // directories in v1 hierarchies, which a process must join by itself
}

// Load returns a group with the given Dirs.
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

// Dirs returns the group's directories, first the one that lists all processes.
func (g *Group) Dirs() []string {
	if g.unified == "" {
		return slices.Clone(g.v1)
	}
	return append([]string{g.unified}, g.v1...)
}

// IsZero reports whether the group has no directories.
func (g *Group) IsZero() bool { return g == nil || g.unified == "" && len(g.v1) == 0 }

// OpenUnified opens the v2 directory, in which a process can be started directly; nil without
// v2.
func (g *Group) OpenUnified() (*os.File, error) {
	if g.unified == "" {
		return nil, nil
	}
	return os.Open(g.unified)
}

// JoinDirs returns the directories that a process must join by itself, by writing 0 to their
// cgroup.procs, or a thread to their tasks: v1 cannot start a process in a group.
func (g *Group) JoinDirs() []string { return g.v1 }

// Procs returns the processes in the group and its subgroups.
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

// OOMKills returns the number of the group's processes that the kernel killed for their memory
// use.
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

// Remove removes the group's directories. Directories with processes stay, and the error
// lists them.
func (g *Group) Remove() error {
	var first error
	for _, d := range g.Dirs() {
		for _, sub := range tree(d) {
			if err := g.removeDir(sub); err != nil && !os.IsNotExist(err) && first == nil {
				first = err
			}
		}
	}
	return first
}

// removeDir removes a directory. The kernel lists no process that is about to end, but keeps its
// group until it has ended.
func (g *Group) removeDir(dir string) error {
	const attempts = 20
	for n := 1; ; n++ {
		err := os.Remove(dir)
		if n == attempts || !errors.Is(err, unix.EBUSY) || len(fields(filepath.Join(dir, "cgroup.procs"))) > 0 {
			return err
		}
		time.Sleep(time.Duration(n) * time.Millisecond)
	}
}

// tree returns dir and all directories below it, the deepest first.
func tree(dir string) []string {
	// A directory has a link from each subdirectory, so two links mean that it has none: most
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

// Groups returns the existing groups of the tree.
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

// Remove removes the tree's own directories if they are empty.
func (t *Tree) Remove() {
	for _, d := range append(t.dirs(), t.others...) {
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
