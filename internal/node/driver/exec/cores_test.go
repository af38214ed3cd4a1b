// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec_test

import (
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

func TestRunsOnItsCoresOnly(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	task := supervisetest.Task(t, "a/web/0", supervisetest.Shell("grep Cpus_allowed_list /proc/self/status"))
	task.Resources.Cores = "0"
	got, exit := run(t, d, task)
	if f := strings.Fields(got); exit.Code != 0 || len(f) != 2 || f[1] != "0" {
		t.Errorf("exit %+v, the task may run on %q, want core 0", exit, got)
	}
}
