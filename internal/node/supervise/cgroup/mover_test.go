// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

func TestTheOwnGroupIsFound(t *testing.T) {
	hybrid := Layout{Unified: "/sys/fs/cgroup/unified", V1: map[string]string{"memory": "/sys/fs/cgroup/memory", "cpu": "/sys/fs/cgroup/cpu,cpuacct"}}
	for _, test := range []struct {
		layout       Layout
		groups, want string
	}{
		{hybrid, "4:memory:/a\n0::/system.slice/reeve.service\n", "/sys/fs/cgroup/memory/a/cgroup.procs"},
		{hybrid, "5:devices:/a\n0::/b\n", "/sys/fs/cgroup/unified/b/cgroup.procs"},
		{hybrid, "3:cpu,cpuacct:/a\n", "/sys/fs/cgroup/cpu,cpuacct/a/cgroup.procs"},
		{Layout{Unified: "/sys/fs/cgroup"}, "0::/\n", "/sys/fs/cgroup/cgroup.procs"},
		{Layout{V1: map[string]string{"memory": "/m"}}, "0::/a\n1:name=systemd:/a\n", ""},
		{hybrid, "4:memory:/../../a\n0::/..\n", ""},
		{Layout{}, "0::/\n", ""},
		{hybrid, "nonsense\n", ""},
	} {
		if got := ownProcs(test.layout, test.groups); got != test.want {
			t.Errorf("%q: the file is %q, want %q", test.groups, got, test.want)
		}
	}
}

func TestMovesAreKeptFastWhileAnyoneWantsIt(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "cgroup.procs")
		tree := &Tree{mover: &mover{own: func() string { return file }}}
		written := func() bool { // in the next moments
			os.Remove(file)
			time.Sleep(2 * moveEvery)
			synctest.Wait()
			b, _ := os.ReadFile(file)
			return string(b) == "0"
		}
		first, second := tree.KeepMoving(), tree.KeepMoving()
		if !written() {
			t.Error("nothing is moved")
		}
		first()
		if !written() {
			t.Error("the end of one start ends the moves for the other")
		}
		second()
		if synctest.Wait(); written() {
			t.Error("moves are made for nobody")
		}
		again := tree.KeepMoving()
		if !written() {
			t.Error("a later start has no moves")
		}
		again()
	})
}
