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

	"github.com/reeve-run/reeve/internal/node/landlock"
	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
)

// Machine describes the machine's features that the supervisor can use.
type Machine struct {
	Root           bool   // reports whether it may change users and create namespaces
	CgroupVersion  string // one of cgroup's version constants
	CgroupParent   string `json:",omitempty"` // parent of all tasks' groups, relative to the hierarchy's mount point; "" without cgroups
	Controllers    []string
	Landlock       int    `json:",omitempty"` // version of the kernel's interface; 0: none, or a supervisor that does not use it
	CgroupProblems string `json:",omitempty"` // why other cgroup features are missing
}

// Has reports whether a controller limits tasks on this machine.
func (m Machine) Has(controller string) bool { return slices.Contains(m.Controllers, controller) }

// CgroupUse selects the machine's cgroups to use.
type CgroupUse string

// Values of CgroupUse.
const (
	CgroupsAll  CgroupUse = ""     // all that exist
	CgroupsV1   CgroupUse = "v1"   // only v1 hierarchies
	CgroupsNone CgroupUse = "none" // no cgroups: tasks are unlimited, and found through the process table
)

// cgroupTree opens the cgroups of this data directory. Another agent on the machine has its
// own.
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
	m := Machine{Root: os.Geteuid() == 0, CgroupVersion: tree.Version, Controllers: tree.Controllers, Landlock: landlock.Version()}
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

// groupName converts a task id to a directory name.
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

// buildVersion returns a string that identifies the build of this binary.
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

// buildID returns the linker's build id of a program; "" if unknown. It is the only way to
// distinguish builds outside of version control.
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
