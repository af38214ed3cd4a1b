// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

func TestCommandsRunInTheContainer(t *testing.T) {
	b := newBed(t, nil)
	task := b.task(t, "a/web/0", "sleep", map[string]any{"work_dir": "/home/app"})
	task.User = "app"
	h := b.start(t, task)
	var out, errs bytes.Buffer
	code, err := h.Exec(t.Context(), driver.Exec{
		Argv: strings.Fields("/bin/tool id , pwd , env GREETING , env MORE , copy , error oops , exit 5"),
		Env:  []string{"MORE=1"}, Stdin: strings.NewReader("from outside\n"), Stdout: &out, Stderr: &errs,
	})
	want := "uid 1000 gid 1001 groups [10]\n/home/app\nGREETING=hello\nMORE=1\nfrom outside\n"
	if err != nil || code != 5 || out.String() != want || errs.String() != "oops\n" {
		t.Errorf("%d, %v, %q, %q", code, err, out.String(), errs.String())
	}
	if err := h.Stop(t.Context(), "SIGKILL", 0); err != nil {
		t.Error(err)
	}
}

// TestTheRuntimeRunsFromMemory looks at a command's runtime, which runs as long as the command.
func TestTheRuntimeRunsFromMemory(t *testing.T) {
	script := filepath.Join(t.TempDir(), "runtime")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec runc \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	installed, err := container.FindRuntime("runc")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"": "/memfd:runtime (deleted)", script: installed} {
		b := newBed(t, func(c *container.Config) { c.Runtime = name })
		h := b.start(t, b.task(t, "a/memory/0", "sleep"))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := h.Exec(ctx, driver.Exec{Argv: []string{"/bin/tool", "sleep"}})
			ended <- err
		}()
		var got string
		wait.Until(t, "the runtime of the command runs", func() bool {
			for _, process := range remains("/nowhere", b.client.Dir()+"/containers/") {
				pid, command, _ := strings.Cut(process, " ")
				if exe, err := os.Readlink("/proc/" + pid + "/exe"); err == nil && strings.Contains(command, " exec --process ") {
					got = exe
				}
			}
			return got == want
		})
		cancel()
		if err := <-ended; err == nil {
			t.Error("the command ended without an error")
		}
		if err := h.Stop(t.Context(), "SIGKILL", 0); err != nil {
			t.Error(err)
		}
	}
}

func execTrue() driver.Exec { return driver.Exec{Argv: []string{"/bin/tool", "exit", "0"}} }
