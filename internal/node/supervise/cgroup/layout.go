// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package cgroup puts the processes of a task into control groups: to limit them, to measure
// them, and to kill all of them together.
//
// Machines differ. The single hierarchy of cgroup v2 has all features. Older machines mount
// each controller as its own hierarchy (v1). Hybrid ones do the same, and mount v2 beside
// them without the relevant controllers, but with its cgroup.kill. Detect finds the layout;
// Tree and Group hide the differences. This package neither starts nor waits for a process.
package cgroup

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Versions of a machine's layout, as published in the node attribute "cgroup.version".
const (
	V2     = "v2"
	Hybrid = "hybrid"
	V1     = "v1"
	None   = "none"
)

// A Layout describes the mounted hierarchies.
type Layout struct {
	Unified string            // the v2 mount point, or ""
	V1      map[string]string // controller -> mount point of its v1 hierarchy
	Others  []string          // mount points of other v1 hierarchies
}

// Detect reads the layout from the kernel.
func Detect() Layout {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return Layout{}
	}
	return parseMounts(string(b))
}

// wanted lists the v1 controllers that this package uses.
var wanted = []string{"memory", "cpu", "cpuacct", "pids", "freezer"}

func parseMounts(mountinfo string) Layout {
	l := Layout{V1: map[string]string{}}
	lines := bufio.NewScanner(strings.NewReader(mountinfo))
	for lines.Scan() {
		before, after, ok := strings.Cut(lines.Text(), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 6 || len(right) < 3 {
			continue
		}
		point := left[4]
		switch right[0] {
		case "cgroup2":
			if l.Unified == "" {
				l.Unified = point
			}
		case "cgroup":
			useful := false
			for _, option := range strings.Split(right[2], ",") {
				if slices.Contains(wanted, option) {
					useful = true
					if l.V1[option] == "" {
						l.V1[option] = point
					}
				}
			}
			if !useful {
				l.Others = append(l.Others, point)
			}
		}
	}
	return l
}

// Version returns the layout's version.
func (l Layout) Version() string {
	switch {
	case l.Unified != "" && len(l.V1) == 0:
		return V2
	case l.Unified != "":
		return Hybrid
	case len(l.V1) > 0:
		return V1
	}
	return None
}

func fields(path string) []string {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Fields(string(b))
}

func write(dir, file, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(value)
	return err
}
