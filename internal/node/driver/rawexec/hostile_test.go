// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package rawexec_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/reeve-run/reeve/internal/node/driver/rawexec"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

// A task that is not root owns its directory, and so can replace what is in it
// before its next run.
func TestAHostileTaskIsNotGivenADirectoryOfTheHost(t *testing.T) {
	if os.Geteuid() != 0 {
		return // then nothing is given to anybody
	}
	d := rawexec.New(supervisetest.Connect(t))
	for _, name := range []string{"local", "secrets", "tmp"} {
		host := t.TempDir()
		task := supervisetest.Task(t, "a/"+name+"/0", map[string]any{"command": "/bin/sh", "args": []any{
			"-c", `rmdir "$1" && ln -s "$2" "$1"`, "sh", name, host,
		}})
		task.User = "nobody"
		h, err := d.Start(t.Context(), task)
		if err != nil {
			t.Fatal(err)
		}
		if exit, err := h.Wait(t.Context()); err != nil || exit.Code != 0 {
			t.Fatalf("exit %+v, %v: %s", exit, err, supervisetest.Output(t, task.Logs.StderrPrefix))
		}
		if target, err := os.Readlink(filepath.Join(task.Dir.Task, name)); target != host {
			t.Fatalf("%s links to %q, %v", name, target, err)
		}
		task.ID, task.Config = "a/"+name+"/1", supervisetest.Shell("true")
		if _, err := d.Start(t.Context(), task); err == nil {
			t.Errorf("a run with a link for %s was started", name)
		}
		info, err := os.Stat(host)
		if err != nil {
			t.Fatal(err)
		}
		if uid := info.Sys().(*syscall.Stat_t).Uid; uid != 0 {
			t.Errorf("the host's directory was given to user %d, by way of %s", uid, name)
		}
	}
}

func TestAHostileTaskOfAnotherUserDoesNotRedirectItsOutput(t *testing.T) {
	if os.Geteuid() != 0 {
		return
	}
	d := rawexec.New(supervisetest.Connect(t))
	host := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(host, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	task := supervisetest.Task(t, "a/t/0", map[string]any{"command": "/bin/sh", "args": []any{
		"-c", `ln -s "$1" ../alloc/logs/task.stderr.0; echo output >&2`, "sh", host,
	}})
	task.User = "nobody"
	h, err := d.Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(host); string(got) != "mine" {
		t.Errorf("the host's file now holds %q", got)
	}
	if got := supervisetest.Output(t, task.Logs.StderrPrefix); got != "output\n" {
		t.Errorf("the output is %q", got)
	}
}
