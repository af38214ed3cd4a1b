// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	mountsV2     = "29 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	mountsHybrid = `30 23 0:27 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755
31 30 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
32 30 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
33 30 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
34 30 0:31 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd
`
	mountsV1 = `33 30 0:30 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory
35 30 0:32 / /sys/fs/cgroup/pids rw shared:10 - cgroup cgroup rw,pids
`
)

func TestDetectTellsLayoutsApart(t *testing.T) {
	for mounts, want := range map[string]struct {
		version string
		layout  Layout
	}{
		mountsV2: {V2, Layout{Unified: "/sys/fs/cgroup", V1: map[string]string{}}},
		mountsHybrid: {Hybrid, Layout{Unified: "/sys/fs/cgroup/unified", V1: map[string]string{
			"cpu": "/sys/fs/cgroup/cpu,cpuacct", "cpuacct": "/sys/fs/cgroup/cpu,cpuacct", "memory": "/sys/fs/cgroup/memory",
		}, Others: []string{"/sys/fs/cgroup/systemd"}}},
		mountsV1:      {V1, Layout{V1: map[string]string{"memory": "/sys/fs/cgroup/memory", "pids": "/sys/fs/cgroup/pids"}}},
		"1 2 garbage": {None, Layout{V1: map[string]string{}}},
	} {
		got := parseMounts(mounts)
		if diff := cmp.Diff(want.layout, got); diff != "" || got.Version() != want.version {
			t.Errorf("version %s, want %s; layout (-want +got):\n%s", got.Version(), want.version, diff)
		}
	}
}

// fake makes a v2 hierarchy of plain files, with controllers in every
// directory that a test names.
func fake(t *testing.T, dirs ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, d := range append([]string{""}, dirs...) {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
		for file, content := range map[string]string{
			"cgroup.controllers": "cpu io memory pids", "cgroup.subtree_control": "", "memory.max": "", "memory.low": "", "cpu.weight": "", "pids.max": "",
			"memory.events": "low 0\noom 3\noom_kill 2\n", "cpu.stat": "usage_usec 1500\n", "memory.stat": "anon 4096\nfile 1\n", "cgroup.procs": "",
		} {
			if err := os.WriteFile(filepath.Join(root, d, file), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

func TestUnifiedLimits(t *testing.T) {
	root := fake(t, "reeve", "reeve/x", "reeve/x/t-1")
	tree, err := Open(Layout{Unified: root}, "reeve/x")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"cpu", "memory", "pids"}, tree.Controllers); diff != "" || tree.Version != V2 {
		t.Errorf("version %s, controllers (-want +got):\n%s", tree.Version, diff)
	}
	g, err := tree.Create("t-1", Limits{CPUShares: 2048, MemoryBytes: 64 << 20, MemoryReserve: 32 << 20, Processes: 7})
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"memory.max": "67108864", "memory.low": "33554432", "cpu.weight": "200", "pids.max": "7"} {
		if b, err := os.ReadFile(filepath.Join(root, "reeve/x/t-1", file)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v; want %q", file, b, err, want)
		}
	}
	for _, dir := range []string{"", "reeve", "reeve/x"} {
		if b, err := os.ReadFile(filepath.Join(root, dir, "cgroup.subtree_control")); err != nil || string(b) == "" {
			t.Errorf("no controllers are given to what is below %q: %v", dir, err)
		}
	}
	if kills := g.OOMKills(); kills != 2 {
		t.Errorf("%d OOM kills, want 2", kills)
	}
	if cpu, ok := g.Usage().CPU, g.Usage().HasCPU; !ok || cpu.Microseconds() != 1500 {
		t.Errorf("cpu time %v, %v", cpu, ok)
	}
	if memory, ok := g.Usage().RSS, g.Usage().HasMemory; !ok || memory != 4096 {
		t.Errorf("memory %v, %v", memory, ok)
	}
	if diff := cmp.Diff(g.Dirs(), Load(g.Dirs()).Dirs()); diff != "" || len(g.JoinDirs()) != 0 {
		t.Errorf("a group is not the same when loaded again: %s", diff)
	}
}

func TestWhatCannotBeWrittenIsLeftOut(t *testing.T) {
	tree, err := Open(Layout{Unified: "/proc/no-such", V1: map[string]string{"memory": "/proc/none"}}, "reeve/x")
	if err == nil || tree.Version != None || len(tree.Controllers) != 0 {
		t.Errorf("tree %+v, %v; want none, and why", tree, err)
	}
	g, err := tree.Create("t-1", Limits{MemoryBytes: 1})
	if err != nil || !g.IsZero() || g.Kill(t.Context()) != nil || g.Remove() != nil {
		t.Errorf("group %+v, %v; want the empty one, which does nothing", g, err)
	}
}

func TestSweepRemovesOnlyWhatNobodyHolds(t *testing.T) {
	root := t.TempDir()
	for _, d := range []string{"reeve/abandoned/t-1", "reeve/busy/t-1"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	layout := Layout{V1: map[string]string{"memory": root}}
	// A file in a directory keeps it from being removed, as a process does.
	if err := os.WriteFile(filepath.Join(root, "reeve/busy/t-1/process"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(layout, "reeve/held"); err != nil {
		t.Fatal(err)
	}
	own, err := Open(layout, "reeve/own")
	if err != nil {
		t.Fatal(err)
	}
	own.Sweep()
	if diff := cmp.Diff([]string{"busy", "held", "own"}, subdirs(filepath.Join(root, "reeve"))); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
}

// Trees that are opened while others sweep are there afterwards.
func TestTreesAreOpenedWhileOthersSweep(t *testing.T) {
	root := t.TempDir()
	layout := Layout{V1: map[string]string{"freezer": root}}
	sweeper, err := Open(layout, "reeve/sweeper")
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan struct{})
	var sweeping sync.WaitGroup
	sweeping.Go(func() {
		for {
			select {
			case <-opened:
				return
			default:
				sweeper.Sweep()
			}
		}
	})
	for i := range 300 {
		tree, err := Open(layout, fmt.Sprint("reeve/", i))
		if err == nil {
			_, err = tree.Create("t", Limits{})
		}
		if err != nil {
			t.Fatalf("tree %d: %v", i, err)
		}
	}
	close(opened)
	sweeping.Wait()
}

func TestWeightKeepsProportions(t *testing.T) {
	for shares, want := range map[int64]int64{0: 0, 1: 1, 1024: 100, 2048: 200, 1 << 40: 10000} {
		if got := weight(shares); got != want {
			t.Errorf("weight(%d) = %d, want %d", shares, got, want)
		}
	}
}

// A supervisor of a deleted data directory removes its tree when it ends. The tree may already belong to the
// supervisor of a new data directory of that name.
func TestATreeThatAnotherRemovedIsMadeAgain(t *testing.T) {
	root := t.TempDir()
	layout := Layout{V1: map[string]string{"freezer": root}}
	earlier, err1 := Open(layout, "reeve/x")
	own, err2 := Open(layout, "reeve/x")
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	earlier.Remove()
	g, err := own.Create("t-1", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{filepath.Join(root, "reeve/x/t-1")}, g.Dirs()); diff != "" {
		t.Error(diff)
	}
}
