// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/program"
	"github.com/reeve-run/reeve/internal/node/supervise"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

// BenchmarkStart is the time from asking for a process until it runs, beside
// that of starting one directly.
func BenchmarkStart(b *testing.B) {
	b.Run("without a supervisor", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.Command("/bin/sleep", "1000")
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			cmd.Process.Kill()
			cmd.Wait()
			b.StartTimer()
		}
	})
	for _, use := range []supervise.CgroupUse{supervise.CgroupsAll, supervise.CgroupsV1, supervise.CgroupsNone} {
		b.Run("cgroups="+string(use), func(b *testing.B) {
			dir := supervisetest.Dir(b)
			b.Cleanup(func() { supervisetest.Shutdown(b, dir) })
			c := supervisetest.ConnectWith(b, supervise.Config{Dir: dir, Cgroups: use})
			spec := sleeper(b, "")
			n := 0
			for b.Loop() {
				spec.ID = fmt.Sprint("t/", n)
				n++
				p, err := c.Start(b.Context(), spec)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				p.Stop(b.Context(), "SIGKILL", 0)
				p.Destroy(b.Context())
				b.StartTimer()
			}
		})
	}
}

// BenchmarkMemoryPerTask runs 1000 sleeping tasks, and reports what they cost
// outside of themselves: in this process, as the agent, and in the supervisor.
func BenchmarkMemoryPerTask(b *testing.B) {
	const tasks = 1000
	c := supervisetest.Connect(b)
	var agent, supervisor float64
	for b.Loop() {
		agentBefore, supervisorBefore := rss(b, os.Getpid()), rss(b, c.PID())
		var all []*supervise.Process
		for i := range tasks {
			p, err := c.Start(b.Context(), sleeper(b, fmt.Sprint("t/", i)))
			if err != nil {
				b.Fatal(err)
			}
			all = append(all, p)
		}
		agent += float64(rss(b, os.Getpid())-agentBefore) / tasks
		supervisor += float64(rss(b, c.PID())-supervisorBefore) / tasks
		b.StopTimer()
		for _, p := range all {
			p.Stop(b.Context(), "SIGKILL", 0)
			p.Destroy(b.Context())
		}
		b.StartTimer()
	}
	b.ReportMetric(agent/float64(b.N)/1024, "agent-KB/task")
	b.ReportMetric(supervisor/float64(b.N)/1024, "supervisor-KB/task")
}

func sleeper(b *testing.B, id string) *supervise.Spec {
	dir := os.TempDir()
	return &supervise.Spec{
		ID: id, Path: "/bin/sleep", Argv: []string{"sleep", "1000"}, Env: []string{"PATH=" + program.DefaultPath}, Dir: "/",
		Logs: driver.Logs{StdoutPrefix: dir + "/bench.out", StderrPrefix: dir + "/bench.err"},
	}
}

// rss is a process's resident memory in bytes.
func rss(b *testing.B, pid int) int64 {
	runtime.GC()
	f, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(f)) {
		if v, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(v)[0], 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			return kb << 10
		}
	}
	b.Fatalf("process %d has no VmRSS", pid)
	return 0
}

// BenchmarkStats1000Tasks measures 1000 tasks, as a scrape of metrics does.
func BenchmarkStats1000Tasks(b *testing.B) {
	const tasks = 1000
	c := supervisetest.Connect(b)
	var all []*supervise.Process
	for i := range tasks {
		p, err := c.Start(b.Context(), sleeper(b, fmt.Sprint("t/", i)))
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, p)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range all {
			if s, err := p.Stats(b.Context()); err != nil || s.Processes == 0 {
				b.Fatalf("%+v, %v", s, err)
			}
		}
	}
}
