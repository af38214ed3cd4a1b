// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"debug/elf"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
)

// Machine is what the supervisor found it can use here.
type Machine struct {
	Root           bool   // it may change users and make namespaces
	CgroupVersion  string // one of cgroup's version constants
	CgroupParent   string `json:",omitempty"` // the group of all tasks' groups, below where a hierarchy is mounted; "": none
	Controllers    []string
	CgroupProblems string `json:",omitempty"` // why there are not more
}

// Has reports whether a controller limits tasks here.
func (m Machine) Has(controller string) bool { return slices.Contains(m.Controllers, controller) }

// CgroupUse says which of the machine's cgroups to use.
type CgroupUse string

// Values of CgroupUse.
const (
	CgroupsAll  CgroupUse = ""     // what there is
	CgroupsV1   CgroupUse = "v1"   // leave the v2 hierarchy to others
	CgroupsNone CgroupUse = "none" // none: tasks are not limited, and found by walking the process table
)

// cgroupTree opens the cgroups of this data directory: another agent on the
// machine has its own.
func cgroupTree(dir string, use CgroupUse) (*cgroup.Tree, error) {
	layout := cgroup.Detect()
	switch use {
	case CgroupsNone:
		layout = cgroup.Layout{}
	case CgroupsV1:
		layout.Unified = ""
	}
	return cgroup.Open(layout, parentGroup(dir))
}

func parentGroup(dir string) string { return filepath.Join("reeve", dirHash(dir)) }

func probe(tree *cgroup.Tree, dir string, problems error) Machine {
	m := Machine{Root: os.Geteuid() == 0, CgroupVersion: tree.Version, Controllers: tree.Controllers}
	if tree.Version != cgroup.None {
		m.CgroupParent = parentGroup(dir)
	}
	if problems != nil {
		m.CgroupProblems = problems.Error()
	}
	return m
}

func dirHash(dir string) string {
	h := fnv.New64a()
	h.Write([]byte(dir))
	return fmt.Sprintf("%016x", h.Sum64())
}

// groupName is a task id as a directory name.
func groupName(id string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '.'
	}, id)
	h := fnv.New32a()
	h.Write([]byte(id))
	return fmt.Sprintf("t-%.100s-%08x", safe, h.Sum32())
}

// buildVersion tells one build of the binary from another.
var buildVersion = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
			v += " " + s.Value
		}
	}
	return v + " " + buildID("/proc/self/exe")
})

// buildID is what the linker gave a program of its own; "" if it is not known.
// Builds outside of version control have nothing else that tells them apart.
func buildID(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	note := f.Section(".note.go.buildid")
	if note == nil {
		return ""
	}
	b, err := note.Data()
	const header = 16 // sizes, type and "Go\0\0"
	if err != nil || len(b) < header {
		return ""
	}
	return strings.TrimRight(string(b[header:]), "\x00")
}
