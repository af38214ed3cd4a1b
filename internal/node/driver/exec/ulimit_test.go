// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec_test

import (
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

func TestUlimits(t *testing.T) {
	d, ok := open(t)
	if !ok {
		return
	}
	task := supervisetest.Task(t, "u", supervisetest.Shell("ulimit -Sn; ulimit -Hn; ulimit -c"))
	task.Config["ulimit"] = map[string]any{"nofile": "100:200", "core": "0"}
	if out, exit := run(t, d, task); out != "100\n200\n0\n" || exit.Code != 0 {
		t.Errorf("limits in the task: %q, exit %+v", out, exit)
	}
	above := supervisetest.Task(t, "above", supervisetest.Shell("true"))
	above.Config["ulimit"] = map[string]any{"nofile": "2000000000"}
	if _, err := d.Start(t.Context(), above); err == nil || !strings.Contains(err.Error(), "nofile") {
		t.Errorf("a limit above the machine's: %v", err)
	}
}
