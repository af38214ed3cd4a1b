// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package rawexec_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/rawexec"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

// lastCore is one core that this process may run on, not all of them if there
// are several.
func lastCore(t *testing.T) string {
	t.Helper()
	var own unix.CPUSet
	if err := unix.SchedGetaffinity(0, &own); err != nil {
		t.Fatal(err)
	}
	for id := len(own)*64 - 1; id >= 0; id-- {
		if own.IsSet(id) {
			return strconv.Itoa(id)
		}
	}
	t.Fatal("this process may run nowhere")
	return ""
}

func TestRunsOnItsCoresOnly(t *testing.T) {
	d := rawexec.New(supervisetest.Connect(t))
	task := supervisetest.Task(t, "a/web/0", supervisetest.Shell("grep Cpus_allowed_list /proc/self/status; touch ready; exec sleep 1000"))
	core := lastCore(t)
	task.Resources.Cores = core
	h, err := d.Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := h.Exec(t.Context(), driver.Exec{Argv: []string{"sh", "-c", "until [ -e ready ]; do sleep 0.01; done; grep Cpus_allowed_list /proc/self/status"}, Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(out.String()); len(got) != 2 || got[1] != core {
		t.Errorf("a command beside the task may run on %q, want core %s", &out, core)
	}
	if err := h.Stop(t.Context(), "SIGTERM", 10*time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(supervisetest.Output(t, task.Logs.StdoutPrefix)); len(got) != 2 || got[1] != core {
		t.Errorf("the task may run on %q, want core %s", got, core)
	}
}

func TestCoresThatDoNotExistAreTold(t *testing.T) {
	d := rawexec.New(supervisetest.Connect(t))
	task := supervisetest.Task(t, "a/web/0", supervisetest.Shell("true"))
	task.Resources.Cores = "1000"
	if _, err := d.Start(t.Context(), task); err == nil || !strings.Contains(err.Error(), "the task's cores") {
		t.Errorf("a task on core 1000: %v", err)
	}
}
