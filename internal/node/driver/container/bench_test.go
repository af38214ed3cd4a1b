// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container_test

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkStart starts containers of an image that the node has. Their ends do not count.
func BenchmarkStart(b *testing.B) {
	d := newBed(b, nil)
	d.run(b, d.task(b, "a/first/0", "echo x"))
	for n := range b.N {
		b.StopTimer()
		task := d.task(b, fmt.Sprintf("a/bench/%d", n), "sleep")
		b.StartTimer()
		h, err := d.Start(b.Context(), task)
		b.StopTimer()
		if err != nil {
			b.Fatal(err)
		}
		if err := h.Stop(b.Context(), "SIGKILL", 0); err != nil {
			b.Fatal(err)
		}
		if err := h.Destroy(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkExec runs a command in a container.
func BenchmarkExec(b *testing.B) {
	d := newBed(b, nil)
	h := d.start(b, d.task(b, "a/exec/0", "sleep"))
	for b.Loop() {
		if code, err := h.Exec(b.Context(), execTrue()); code != 0 || err != nil {
			b.Fatal(code, err)
		}
	}
	if err := h.Stop(b.Context(), "SIGKILL", 0); err != nil {
		b.Fatal(err)
	}
}
