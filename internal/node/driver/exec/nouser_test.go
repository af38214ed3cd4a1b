// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec_test

import (
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/node/driver/exec"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

// TestNoUserHasTheLastNumber names the number that means "unchanged" to the kernel: the task would stay root.
func TestNoUserHasTheLastNumber(t *testing.T) {
	if _, ok := open(t); !ok {
		return
	}
	d := exec.New(supervisetest.Connect(t), exec.Config{})
	for _, user := range []string{"4294967295", "04294967295"} {
		task := supervisetest.Task(t, "last/"+user, supervisetest.Shell("id -u; id -g"))
		task.User = user
		h, err := d.Start(t.Context(), task)
		if err == nil {
			h.Wait(t.Context())
			t.Errorf("user %s: it runs as %q", user, supervisetest.Output(t, task.Logs.StdoutPrefix))
			h.Destroy(t.Context())
		} else if !strings.Contains(err.Error(), user) {
			t.Errorf("user %s: %v", user, err)
		}
	}
}
