// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec_test

import (
	"fmt"
	"testing"

	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

// BenchmarkStart is the time from asking for an isolated process until it runs.
func BenchmarkStart(b *testing.B) {
	d, ok := open(b)
	if !ok {
		return
	}
	task := supervisetest.Task(b, "", map[string]any{"command": "sleep", "args": []string{"1000"}})
	task.Resources.MemoryMB, task.Resources.CPUShares = 64, 100
	n := 0
	for b.Loop() {
		task.ID = fmt.Sprint("t/", n)
		n++
		h, err := d.Start(b.Context(), task)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		h.Stop(b.Context(), "SIGKILL", 0)
		h.Destroy(b.Context())
		b.StartTimer()
	}
}
