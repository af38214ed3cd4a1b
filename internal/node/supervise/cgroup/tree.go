// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// A Tree is a directory in every useful and writable hierarchy; each task has its Group below
// it.
type Tree struct {
	Version     string   // of the layout; None if no hierarchy is writable
	Controllers []string // controllers that limit groups: of cpu, cpuset, memory, pids

	mount   string            // of the v2 hierarchy, or ""
	unified string            // directory in the v2 hierarchy, or ""
	v1      map[string]string // controller -> directory
	others  []string          // possible directories in hierarchies that only container runtimes use
	mover   *mover
}

// Open creates and holds the tree with that name, such as "reeve/1a2b". It skips hierarchies
// that are not writable: the tree then has fewer Controllers. It returns the reasons as a
// joined error, together with a usable tree.
func Open(l Layout, name string) (*Tree, error) {
	t := &Tree{Version: l.Version(), v1: map[string]string{}, mount: l.Unified, mover: newMover(l)}
	var problems []error
	if l.Unified != "" {
		dir := filepath.Join(l.Unified, name)
		if err := makeHeld(dir); err != nil {
			problems = append(problems, err)
		} else {
			t.unified = dir
			var err error
			t.Controllers, err = t.delegate()
			problems = append(problems, err)
		}
	}
	for _, c := range wanted {
		mount := l.V1[c]
		if mount == "" || t.unified != "" && (c == "freezer" || c == "cpuacct") {
			continue // v2 kills without freezing, and counts time without a controller
		}
		dir := filepath.Join(mount, name)
		if err := makeHeld(dir); err != nil {
			problems = append(problems, err)
			continue
		}
		t.v1[c] = dir
		if c != "freezer" && c != "cpuacct" && !slices.Contains(t.Controllers, c) {
			t.Controllers = append(t.Controllers, c)
		}
	}
	for _, mount := range l.Others {
		t.others = append(t.others, filepath.Join(mount, name))
	}
	for _, c := range wanted {
		if l.V1[c] != "" && t.v1[c] == "" {
			t.others = append(t.others, filepath.Join(l.V1[c], name))
		}
	}
	if t.unified == "" && len(t.v1) == 0 {
		t.Version = None
	}
	slices.Sort(t.Controllers)
	return t, errors.Join(problems...)
}

// delegate enables the controllers for the tree's groups, in every directory on the way. It returns those that
// are enabled.
func (t *Tree) delegate() (enabled []string, err error) {
	var problems []error
	for _, c := range []string{"cpu", "cpuset", "memory", "pids"} {
		if !slices.Contains(fields(filepath.Join(t.mount, "cgroup.controllers")), c) {
			continue
		}
		err := write(t.mount, "cgroup.subtree_control", "+"+c)
		for _, dir := range below(t.mount, t.unified) {
			if err == nil {
				err = write(dir, "cgroup.subtree_control", "+"+c)
			}
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("enable the %s controller: %w", c, err))
			continue
		}
		enabled = append(enabled, c)
	}
	return enabled, errors.Join(problems...)
}

// below returns the directories under mount on the way to dir, including dir.
func below(mount, dir string) []string {
	var dirs []string
	for d := dir; d != mount && len(d) > len(mount); d = filepath.Dir(d) {
		dirs = append(dirs, d)
	}
	slices.Reverse(dirs)
	return dirs
}

// Limits bound a group. Zero means no limit.
type Limits struct {
	CPUShares     int64 // relative weight, in MHz
	MemoryBytes   int64 // hard
	MemoryReserve int64 // soft
	Processes     int64
	CPUQuota      int64  // hard limit of processor time, in microseconds per CPUPeriod
	CPUPeriod     int64  // in microseconds; 0: 100,000
	Cores         string // "0-1,3", enforced by the v2 controller; "": all
}

func (l *Limits) period() int64 { return cmp.Or(l.CPUPeriod, 100_000) }

// Create creates a group. A group without limits serves to find and kill its processes, and
// has one directory.
func (t *Tree) Create(name string, l Limits) (*Group, error) {
	g := &Group{}
	if t.Version == None {
		return g, nil
	}
	if err := g.create(t, name, l); err != nil {
		g.Remove()
		return nil, fmt.Errorf("create cgroup %s: %w", name, err)
	}
	return g, nil
}

func (g *Group) create(t *Tree, name string, l Limits) error {
	byV1 := l
	byV1.Cores = ""
	limited := byV1 != Limits{}
	if t.unified != "" {
		g.unified = filepath.Join(t.unified, name)
		if err := t.mkdir(g.unified); err != nil {
			return err
		}
		if err := g.limitUnified(l); err != nil {
			return err
		}
	}
	for c, parent := range t.v1 {
		if !limited && c != "freezer" {
			continue
		}
		dir := filepath.Join(parent, name)
		if slices.Contains(g.v1, dir) {
			continue
		}
		if err := t.mkdir(dir); err != nil {
			return err
		}
		g.v1 = append(g.v1, dir)
		if err := limitV1(c, dir, l); err != nil {
			return err
		}
	}
	return nil
}

// mkdir makes the directory of a group. If that of the tree is gone, it is made again: the supervisor of an
// earlier data directory of the same name removes it when it ends.
func (t *Tree) mkdir(dir string) error {
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrNotExist) {
		parent := filepath.Dir(dir)
		if err := makeHeld(parent); err != nil {
			return err
		}
		if parent == t.unified {
			if _, err := t.delegate(); err != nil {
				return err
			}
		}
		err = os.Mkdir(dir, 0o755)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

func (g *Group) limitUnified(l Limits) error {
	has := fields(filepath.Join(g.unified, "cgroup.controllers"))
	set := func(controller, file string, value int64) error {
		if value <= 0 || !slices.Contains(has, controller) {
			return nil
		}
		return write(g.unified, file, strconv.FormatInt(value, 10))
	}
	var cores error
	if l.Cores != "" && slices.Contains(has, "cpuset") {
		cores = write(g.unified, "cpuset.cpus", l.Cores)
	}
	var quota error
	if l.CPUQuota > 0 && slices.Contains(has, "cpu") {
		quota = write(g.unified, "cpu.max", fmt.Sprintf("%d %d", l.CPUQuota, l.period()))
	}
	return errors.Join(
		cores,
		quota,
		set("cpu", "cpu.weight", weight(l.CPUShares)),
		set("memory", "memory.max", l.MemoryBytes),
		set("memory", "memory.low", l.MemoryReserve),
		set("pids", "pids.max", l.Processes),
	)
}

func limitV1(controller, dir string, l Limits) error {
	set := func(file string, value int64) error {
		if value <= 0 {
			return nil
		}
		return write(dir, file, strconv.FormatInt(value, 10))
	}
	switch controller {
	case "cpu":
		if l.CPUShares > 0 {
			if err := set("cpu.shares", max(l.CPUShares, 2)); err != nil {
				return err
			}
		}
		if l.CPUQuota > 0 {
			return errors.Join(set("cpu.cfs_period_us", l.period()), set("cpu.cfs_quota_us", l.CPUQuota))
		}
	case "memory":
		if err := set("memory.limit_in_bytes", l.MemoryBytes); err != nil {
			return err
		}
		// Otherwise a task beyond its limit would swap. Kernels without swap accounting
		// lack this file.
		if err := set("memory.memsw.limit_in_bytes", l.MemoryBytes); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return set("memory.soft_limit_in_bytes", l.MemoryReserve)
	case "pids":
		return set("pids.max", l.Processes)
	}
	return nil
}

// weight converts v1 shares (2 to 262144, default 1024) to a v2 weight (1 to 10000, default
// 100), and keeps the proportions between tasks.
func weight(shares int64) int64 {
	if shares <= 0 {
		return 0
	}
	return min(max(shares*100/1024, 1), 10000)
}
