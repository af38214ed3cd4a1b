// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise_test

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/program"
	"github.com/reeve-run/reeve/internal/node/supervise"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

func TestMain(m *testing.M) {
	supervisetest.Main(m, func(m *testing.M) { goleak.VerifyTestMain(m) })
}

// everyKind runs a test with each kind of cgroups that this machine has, and
// with none.
func everyKind(t *testing.T, test func(t *testing.T, c *supervise.Client)) {
	for _, use := range []supervise.CgroupUse{supervise.CgroupsAll, supervise.CgroupsV1, supervise.CgroupsNone} {
		t.Run("cgroups="+string(use), func(t *testing.T) {
			dir := supervisetest.Dir(t)
			t.Cleanup(func() { supervisetest.Shutdown(t, dir) })
			test(t, supervisetest.ConnectWith(t, supervise.Config{Dir: dir, Cgroups: use}))
		})
	}
}

// shell is a task that runs a script, with logs below its directory.
func shell(t testing.TB, id, script string) *supervise.Spec {
	dir := supervisetest.Dir(t)
	return &supervise.Spec{
		ID: id, Path: "/bin/sh", Argv: []string{"sh", "-c", script}, Env: []string{"PATH=" + program.DefaultPath}, Dir: dir,
		Logs: driver.Logs{StdoutPrefix: dir + "/out", StderrPrefix: dir + "/err", MaxFiles: 3, MaxFileBytes: 1 << 20},
	}
}

func start(t testing.TB, c *supervise.Client, spec *supervise.Spec) *supervise.Process {
	t.Helper()
	p, err := c.Start(t.Context(), spec)
	if err != nil {
		t.Fatalf("start %s: %v", spec.ID, err)
	}
	return p
}

func waitForExit(t testing.TB, p *supervise.Process) driver.Exit {
	t.Helper()
	e, err := p.Wait(t.Context())
	if err != nil && !errors.Is(err, driver.ErrTaskLost) {
		t.Fatalf("wait: %v", err)
	}
	return e
}

// output waits until a task has printed n lines, and returns them.
func output(t testing.TB, spec *supervise.Spec, n int) []string {
	t.Helper()
	var lines []string
	wait.Until(t, "the task has printed "+strconv.Itoa(n)+" lines", func() bool {
		lines = strings.Fields(supervisetest.Output(t, spec.Logs.StdoutPrefix))
		return len(lines) >= n
	})
	return lines
}

// A witness names a process beyond doubt.
type witness struct {
	pid   int
	start string
}

func see(t testing.TB, pid string) witness {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatalf("not a pid: %q", pid)
	}
	w := witness{pid: n}
	if w.start = startTime(n); w.start == "" {
		t.Fatalf("process %d does not run", n)
	}
	return w
}

func (w witness) gone() bool { return startTime(w.pid) != w.start }

// startTime of a process that runs; a zombie does not.
func startTime(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if f[0] == "Z" || f[0] == "X" {
		return ""
	}
	return f[19]
}
