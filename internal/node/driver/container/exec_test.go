// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/node/driver"
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

func execTrue() driver.Exec { return driver.Exec{Argv: []string{"/bin/tool", "exit", "0"}} }
