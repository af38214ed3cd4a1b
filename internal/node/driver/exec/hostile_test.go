// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// host is a directory of the host that only root may look at, with a file of
// the name of a task's log.
func host(t *testing.T) (dir string, check func()) {
	t.Helper()
	dir = t.TempDir()
	file := filepath.Join(dir, "task.stderr.0")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, func() {
		t.Helper()
		if got, _ := os.ReadFile(file); string(got) != "mine" {
			t.Errorf("the host's file now holds %q", got)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("the host's directory now holds %v (%v)", entries, err)
		}
	}
}

// attacks are what a task does before it prints; $1 is a directory of the host.
var attacks = map[string]struct {
	script string
	kept   bool // its output is kept all the same
}{
	"a link to a file":                 {`ln -s $1/task.stderr.0 /alloc/logs/task.stderr.0`, true},
	"a link to a new file":             {`ln -s $1/new /alloc/logs/task.stderr.0`, true},
	"a pipe that nobody reads":         {`mkfifo /alloc/logs/task.stderr.0`, true},
	"a pipe that it reads":             {`mkfifo /alloc/logs/task.stderr.0; cat /alloc/logs/task.stderr.0 > /alloc/stolen & sleep 0.05`, true},
	"a directory":                      {`mkdir /alloc/logs/task.stderr.0; touch /alloc/logs/task.stderr.0/x`, true},
	"a second name of its own file":    {`echo x > /alloc/f; ln /alloc/f /alloc/logs/task.stderr.0`, true},
	"a link for the logs":              {`mv /alloc/logs /alloc/moved && ln -s $1 /alloc/logs`, false},
	"a file for the logs":              {`mv /alloc/logs /alloc/moved && touch /alloc/logs`, false},
	"a pipe for the logs":              {`mv /alloc/logs /alloc/moved && mkfifo /alloc/logs`, false},
	"the last number":                  {`mkdir /alloc/logs/task.stderr.2147483647`, false},
	"a number that is too large":       {`touch /alloc/logs/task.stderr.9223372036854775807 /alloc/logs/task.stderr.99999999999999999999`, true},
	"links of the numbers that follow": {`for i in 0 1 2 3; do ln -s $1/new$i /alloc/logs/task.stderr.$i; done`, true},
}

func TestAHostileTaskDoesNotRedirectItsOutput(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	for _, user := range []string{"nobody", "root"} {
		for name, attack := range attacks {
			t.Run(user+"/"+name, func(t *testing.T) {
				dir, check := host(t)
				task := supervisetest.Task(t, user+"/"+name, map[string]any{
					"command": "/bin/sh", "args": []any{"-c", attack.script + `; echo output >&2; echo end`, "sh", dir},
				})
				task.User = user
				h, err := d.Start(t.Context(), task)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				if _, err := h.Wait(ctx); err != nil {
					t.Fatalf("the task does not end: %v", err)
				}
				check()
				if got := stderr(t, task); attack.kept != strings.Contains(got, "output") {
					t.Errorf("its output is %q", got)
				}
				if stolen, _ := os.ReadFile(task.Dir.Alloc + "/stolen"); len(stolen) > 0 {
					t.Errorf("the supervisor wrote %q into a pipe", stolen)
				}
			})
		}
	}
}

// stderr is what is in the regular files of a task's log.
func stderr(t *testing.T, task *driver.Task) string {
	t.Helper()
	var all bytes.Buffer
	files, err := filepath.Glob(task.Logs.StderrPrefix + ".*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(b)
		}
	}
	return all.String()
}

func TestAHostileTaskDoesNotRedirectItsOutputAtARotation(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	dir, check := host(t)
	task := supervisetest.Task(t, "a/t/0", map[string]any{"command": "/bin/sh", "args": []any{"-c", `
		echo begin >&2
		until [ -e /alloc/logs/task.stderr.0 ]; do sleep 0.01; done
		for i in 1 2 3 4 5; do ln -s $1/new$i /alloc/logs/task.stderr.$i; done
		head -c 3000000 /dev/zero | tr '\0' x >&2
		echo end >&2`, "sh", dir}})
	h, err := d.Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	check()
	if got := stderr(t, task); len(got) != len("begin\n")+3_000_000+len("end\n") || !strings.HasSuffix(got, "end\n") {
		t.Errorf("%d bytes of output are kept", len(got))
	}
}

// What one task of a group puts into the way of another does no more than what
// it puts into its own.
func TestAHostileTaskDoesNotRedirectTheNextRun(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	dir, check := host(t)
	first := supervisetest.Task(t, "a/t/0", map[string]any{"command": "/bin/sh", "args": []any{"-c", `ln -s $1/task.stderr.0 /alloc/logs/task.stderr.0; mkfifo /alloc/logs/task.stdout.0`, "sh", dir}})
	h, err := d.Start(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := *first
	next.ID, next.Config = "a/t/1", supervisetest.Shell(`echo out; echo err >&2`)
	if got, exit := run(t, d, &next); got != "out\nerr\n" || exit.Code != 0 {
		t.Errorf("output %q, exit %+v", got, exit)
	}
	check()
}

// A command beside a task enters the task's namespaces with all rights. The task,
// though it is root there, must not open what that process has.
func TestATaskCannotLookIntoACommandBesideIt(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	program, err := os.Executable() // that of the supervisor, too
	if err != nil {
		t.Fatal(err)
	}
	task := supervisetest.Task(t, "a/t/0", map[string]any{"command": "/bin/sh", "args": []any{"-c", `
		echo ready
		while [ ! -e /alloc/stop ]; do
			for p in /proc/[0-9]*; do
				[ "$(readlink $p/exe)" = "$1" ] && echo "saw $1"
			done
		done 2>/dev/null`, "sh", program}})
	task.User = "root"
	h, err := d.Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the task runs", func() bool { return supervisetest.Output(t, task.Logs.StdoutPrefix) != "" })
	for range 100 {
		if code, err := h.Exec(t.Context(), driver.Exec{Argv: []string{"true"}}); err != nil || code != 0 {
			t.Fatal(code, err)
		}
	}
	if err := os.WriteFile(task.Dir.Alloc+"/stop", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := h.Stop(t.Context(), "SIGTERM", time.Minute); err != nil {
		t.Fatal(err)
	}
	if got := supervisetest.Output(t, task.Logs.StdoutPrefix); got != "ready\n" {
		t.Errorf("the task has the supervisor's program before it: %.200q", got)
	}
}
