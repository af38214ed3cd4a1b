// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// counting prints numbers without a pause until the file stop exists, then says
// how many, and exits with 5.
const counting = `i=0; while ! [ -e stop ]; do echo $i; i=$((i+1)); done; echo end $i; exit 5`

// checkCounting checks that no number is missing and none is there twice.
func checkCounting(t *testing.T, spec *supervise.Spec) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(supervisetest.Output(t, spec.Logs.StdoutPrefix), "\n"), "\n")
	for i, line := range lines[:len(lines)-1] {
		if line != fmt.Sprint(i) {
			t.Fatalf("line %d of the output is %q", i, line)
		}
	}
	if last := lines[len(lines)-1]; last != fmt.Sprintf("end %d", len(lines)-1) {
		t.Fatalf("the output ends with %q after %d lines", last, len(lines)-1)
	}
}

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTasksDoNotNoticeThatTheAgentIsGone(t *testing.T) {
	dir := supervisetest.Dir(t)
	t.Cleanup(func() { supervisetest.Shutdown(t, dir) })
	first := supervisetest.ConnectTo(t, dir)
	counts, sleeps := shell(t, "counts", counting), shell(t, "sleeps", "echo $$; exec sleep 1000")
	counts.Logs.MaxFiles, counts.Logs.MaxFileBytes = 1000, 1<<20
	start(t, first, counts)
	s := start(t, first, sleeps)
	sleeper := see(t, output(t, sleeps, 1)[0])
	output(t, counts, 100)
	first.Close()

	touch(t, counts.Dir+"/stop")
	wait.Until(t, "the task has ended", func() bool {
		return strings.Contains(supervisetest.Output(t, counts.Logs.StdoutPrefix), "end ")
	})
	second := supervisetest.ConnectTo(t, dir)
	p, err := second.Attach(t.Context(), "counts")
	if err != nil {
		t.Fatal(err)
	}
	if e := waitForExit(t, p); e.Code != 5 || e.At.IsZero() {
		t.Errorf("exit %+v; want the code 5 of an exit that no agent saw", e)
	}
	checkCounting(t, counts)
	again, err := second.Attach(t.Context(), "sleeps")
	if err != nil || again.PID() != s.PID() || !again.StartedAt().Equal(s.StartedAt()) || sleeper.gone() {
		t.Errorf("attached to %d, %v; want the same process %d, running", again.PID(), err, s.PID())
	}
}

func TestAKilledSupervisorLeaksNothing(t *testing.T) {
	everyKind(t, func(t *testing.T, c *supervise.Client) {
		ended := start(t, c, shell(t, "ended", "exit 7"))
		waitForExit(t, ended)
		var specs []*supervise.Spec
		var tasks []*supervise.Process
		var all []witness
		for i := range 5 {
			spec := shell(t, fmt.Sprintf("t/%d", i), `sleep 1000 & echo $!; setsid sh -c '(setsid sh -c "echo \$\$; exec sleep 1000" &); echo $$; exec sleep 1000' & echo $$; wait`)
			specs, tasks = append(specs, spec), append(tasks, start(t, c, spec))
		}
		for _, spec := range specs {
			for _, pid := range output(t, spec, 4) {
				all = append(all, see(t, pid))
			}
		}
		before := c.PID()
		unix.Kill(before, unix.SIGKILL)
		for _, p := range tasks {
			if e := waitForExit(t, p); !errors.Is(e.Err, driver.ErrTaskLost) {
				t.Errorf("exit %+v, want ErrTaskLost", e)
			}
		}
		for _, w := range all {
			if !w.gone() {
				t.Errorf("process %d has leaked", w.pid)
			}
		}
		if e := waitForExit(t, ended); e.Code != 7 {
			t.Errorf("the exit from before: %+v, want code 7", e)
		}
		if e := waitForExit(t, start(t, c, shell(t, "next", "exit 8"))); e.Code != 8 || c.PID() == before {
			t.Errorf("a task of the next supervisor (%d): %+v, want code 8", c.PID(), e)
		}
		for _, p := range append(tasks, ended) {
			if err := p.Destroy(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestAKilledSupervisorIsFoundDeadByTheNextAgent(t *testing.T) {
	dir := supervisetest.Dir(t)
	t.Cleanup(func() { supervisetest.Shutdown(t, dir) })
	first := supervisetest.ConnectTo(t, dir)
	spec := shell(t, "t", "echo $$; sleep 1000")
	start(t, first, spec)
	w := see(t, output(t, spec, 1)[0])
	pid := first.PID()
	first.Close()
	unix.Kill(pid, unix.SIGKILL)
	p, err := supervisetest.ConnectTo(t, dir).Attach(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	if e := waitForExit(t, p); !errors.Is(e.Err, driver.ErrTaskLost) || !w.gone() {
		t.Errorf("exit %+v, gone %v; want lost and gone", e, w.gone())
	}
}

func TestUpgradeKeepsTasks(t *testing.T) {
	everyKind(t, func(t *testing.T, c *supervise.Client) {
		counts, sleeps := shell(t, "counts", counting), shell(t, "sleeps", "echo $$; exec sleep 1000")
		counts.Logs.MaxFiles, counts.Logs.MaxFileBytes = 1000, 1<<20
		deaf := shell(t, "deaf", `trap "" TERM; echo $$; while :; do sleep 0.01; done`)
		ended := start(t, c, shell(t, "ended", "exit 9"))
		waitForExit(t, ended)
		p, s, d := start(t, c, counts), start(t, c, sleeps), start(t, c, deaf)
		sleeper := see(t, output(t, sleeps, 1)[0])
		output(t, counts, 100)
		output(t, deaf, 1)
		stopped := make(chan error, 1)
		go func() { stopped <- d.Stop(t.Context(), "SIGTERM", 700*time.Millisecond) }()
		session := make(chan int, 1)
		go func() {
			code, err := s.Exec(t.Context(), supervise.Command{
				Path: "/bin/sh", Argv: []string{"sh", "-c", "touch in; until [ -e out ]; do sleep 0.01; done; exit 6"}, Dir: sleeps.Dir,
			}, driver.Exec{})
			if err != nil {
				t.Error(err)
			}
			session <- code
		}()
		wait.Until(t, "the session runs", func() bool { _, err := os.Stat(sleeps.Dir + "/in"); return err == nil })
		before := c.PID()
		for range 3 {
			if err := c.Upgrade(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		}
		if c.PID() != before {
			t.Errorf("the supervisor was process %d and is %d", before, c.PID())
		}
		touch(t, sleeps.Dir+"/out")
		if code := <-session; code != 6 {
			t.Errorf("the session ended with %d, want 6", code)
		}
		touch(t, counts.Dir+"/stop")
		if e := waitForExit(t, p); e.Code != 5 {
			t.Errorf("exit %+v, want code 5", e)
		}
		checkCounting(t, counts)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if e := waitForExit(t, d); e.Signal != 9 {
			t.Errorf("the task that was being stopped: %+v, want SIGKILL", e)
		}
		if sleeper.gone() || waitForExit(t, ended).Code != 9 {
			t.Error("an upgrade ended a task, or forgot an exit")
		}
		if err := s.Stop(t.Context(), "SIGTERM", time.Minute); err != nil || !sleeper.gone() {
			t.Errorf("stop after the upgrade: %v, gone %v", err, sleeper.gone())
		}
	})
}

func TestExitsDuringUpgradesAreNotLost(t *testing.T) {
	c := supervisetest.Connect(t)
	const n = 60
	var tasks []*supervise.Process
	for i := range n {
		tasks = append(tasks, start(t, c, shell(t, fmt.Sprintf("t/%d", i), fmt.Sprintf("echo out; sleep 0.%02d; echo done; exit %d", i, i))))
	}
	for range 8 {
		if err := c.Upgrade(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range tasks {
		if e := waitForExit(t, p); e.Code != i || e.Err != nil {
			t.Errorf("task %d: exit %+v", i, e)
		}
	}
}

func TestABinaryThatCannotTakeOverIsRefused(t *testing.T) {
	c := supervisetest.Connect(t)
	spec := shell(t, "t", counting)
	p := start(t, c, spec)
	notOne := filepath.Join(spec.Dir, "script")
	if err := os.WriteFile(notOne, []byte("#!/bin/sh\necho hello\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for exe, want := range map[string]string{"/no/such/file": "command not found", notOne: "cannot take over", "/etc/passwd": "permission denied"} {
		if err := c.Upgrade(t.Context(), exe); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("upgrade to %s: %v, want %q", exe, err, want)
		}
	}
	touch(t, spec.Dir+"/stop")
	if e := waitForExit(t, p); e.Code != 5 {
		t.Errorf("exit %+v, want code 5", e)
	}
	checkCounting(t, spec)
}

func TestADamagedJournalIsPassedOver(t *testing.T) {
	dir := supervisetest.Dir(t)
	t.Cleanup(func() { supervisetest.Shutdown(t, dir) })
	c := supervisetest.ConnectTo(t, dir)
	for i := range 3 {
		waitForExit(t, start(t, c, shell(t, fmt.Sprint(i), fmt.Sprintf("exit %d", i))))
	}
	spec := shell(t, "runs", "echo $$; sleep 1000")
	start(t, c, spec)
	w := see(t, output(t, spec, 1)[0])
	pid := c.PID()
	c.Close()
	unix.Kill(pid, unix.SIGKILL)
	path := filepath.Join(dir, "tasks.journal")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	var kept []string
	for _, l := range lines {
		if strings.Contains(l, `"ID":"1"`) {
			l = strings.Replace(l, "Exit", "Exot", 1) // a bit flips
		}
		if strings.Contains(l, `"ID":"runs"`) {
			l = l[:len(l)/2] + "\n" // torn
		}
		kept = append(kept, l)
	}
	if err := os.WriteFile(path, []byte(strings.Join(kept, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	c = supervisetest.ConnectTo(t, dir)
	for i := range 3 {
		p, err := c.Attach(t.Context(), fmt.Sprint(i))
		if i != 1 {
			if err != nil || waitForExit(t, p).Code != i {
				t.Errorf("task %d: %v; its record is whole", i, err)
			}
		} else if err == nil && waitForExit(t, p).Err == nil {
			t.Errorf("task 1 has an exit %+v; its record is damaged", waitForExit(t, p))
		}
	}
	if !w.gone() {
		t.Error("a task without a record has leaked")
	}
}

func TestASupervisorThatCannotStartSaysWhy(t *testing.T) {
	dir := supervisetest.Dir(t)
	if err := os.Mkdir(filepath.Join(dir, "tasks.journal"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := supervise.Connect(t.Context(), supervise.Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), "read the journal of tasks") {
		t.Errorf("connect: %v", err)
	}
	if _, err := supervise.Connect(t.Context(), supervise.Config{Dir: "/proc/nowhere"}); err == nil || !strings.Contains(err.Error(), "make the supervisor's directory") {
		t.Errorf("connect below /proc: %v", err)
	}
}
