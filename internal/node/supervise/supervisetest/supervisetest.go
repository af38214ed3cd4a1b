// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package supervisetest holds shared parts of tests that use the supervisor: the main
// function of a test binary, supervisors that end with their test, and conditions to wait
// for. Only tests use it.
package supervisetest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/node/artifact"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/program"
	"github.com/reeve-run/reeve/internal/node/supervise"
)

// Main is the body of TestMain: the test binary is also the supervisor.
func Main(m *testing.M, check func(*testing.M)) {
	for _, dispatch := range []func([]string) (bool, int){supervise.Dispatch, artifact.Dispatch} {
		if handled, code := dispatch(os.Args[1:]); handled {
			os.Exit(code)
		}
	}
	EndImmediately()
	if check != nil {
		check(m)
		return
	}
	os.Exit(m.Run())
}

// EndImmediately makes child processes that run a binary with the race detector end without
// its final sleep. By default the detector sleeps for a second to catch late races: a second
// for each command of a script, and for each supervisor.
func EndImmediately() {
	const name, option = "GORACE", "atexit_sleep_ms="
	if given := os.Getenv(name); !strings.Contains(given, option) {
		os.Setenv(name, strings.TrimSpace(given+" "+option+"0"))
	}
}

// Connect makes a client with its own supervisor, which ends with the test.
func Connect(t testing.TB) *supervise.Client {
	t.Helper()
	dir := Dir(t)
	c := ConnectTo(t, dir)
	t.Cleanup(func() { Shutdown(t, dir) })
	return c
}

// ConnectTo makes a client for a directory. It closes with the test.
func ConnectTo(t testing.TB, dir string) *supervise.Client {
	t.Helper()
	return ConnectWith(t, supervise.Config{Dir: dir})
}

// ConnectWith makes a client. It closes with the test.
func ConnectWith(t testing.TB, cfg supervise.Config) *supervise.Client {
	t.Helper()
	c, err := supervise.Connect(t.Context(), cfg)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Shutdown ends the supervisor of a directory and all its tasks.
func Shutdown(t testing.TB, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, err := supervise.Connect(ctx, supervise.Config{Dir: dir})
	if err == nil {
		err = c.Shutdown(ctx, 0)
	}
	if err != nil {
		t.Errorf("shut the supervisor down: %v", err)
	}
	// Errors of the other process appear only in its log.
	log, err := os.ReadFile(filepath.Join(dir, "supervisor.log"))
	if err != nil {
		t.Error(err)
	}
	for _, sign := range []string{"DATA RACE", "panic:", "fatal error:", "level=ERROR"} {
		if strings.Contains(string(log), sign) {
			t.Errorf("the supervisor's log:\n%s", log)
			break
		}
	}
}

// Dir returns a directory with a short path, which is removed with the test.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sup")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Task returns a task with its own directory, and with directories and logs like the agent's.
func Task(t testing.TB, id string, config map[string]any) *driver.Task {
	t.Helper()
	base := Dir(t)
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	d := driver.Dir{
		Alloc: base + "/alloc", Task: base + "/task",
		Local: base + "/task/local", Secrets: base + "/task/secrets", Tmp: base + "/task/tmp",
	}
	for _, p := range []string{d.Alloc, d.Alloc + "/logs", d.Alloc + "/data", d.Local, d.Secrets, d.Tmp} {
		if err := os.MkdirAll(p, 0o777); err != nil {
			t.Fatal(err)
		}
		os.Chmod(p, 0o777)
	}
	return &driver.Task{
		ID: id, AllocID: "alloc", Name: "task", Config: config, Dir: d,
		Env:  []string{"PATH=" + program.DefaultPath, "GREETING=hello"},
		Logs: driver.Logs{Root: base, StdoutPrefix: d.Alloc + "/logs/task.stdout", StderrPrefix: d.Alloc + "/logs/task.stderr", MaxFiles: 5, MaxFileBytes: 1 << 20},
	}
}

// Shell returns the config of a task that runs a script.
func Shell(script string) map[string]any {
	return map[string]any{"command": "/bin/sh", "args": []any{"-c", script}}
}

// Output returns the content of a log's files, oldest first.
func Output(t testing.TB, prefix string) string {
	t.Helper()
	var all strings.Builder
	for _, f := range supervise.LogFiles(prefix) {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}
