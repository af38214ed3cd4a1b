// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// BenchmarkStart starts containers of an image that the node has. Their ends do not count.
func BenchmarkStart(b *testing.B) {
	d := newBed(b, nil)
	d.run(b, d.task(b, "a/first/0", "echo x"))
	var took []time.Duration
	for n := range b.N {
		b.StopTimer()
		task := d.task(b, fmt.Sprintf("a/bench/%d", n), "sleep")
		b.StartTimer()
		begun := time.Now()
		h, err := d.Start(b.Context(), task)
		took = append(took, time.Since(begun))
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
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/10].Nanoseconds()), "p10-ns")
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
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
