// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"runtime"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/mock"
	"github.com/reeve-run/reeve/internal/node/drivertest"
)

// BenchmarkThousandTasks places 1,000 instances at once and waits until all
// are reported running; it prints the heap that they take.
func BenchmarkThousandTasks(b *testing.B) {
	for b.Loop() {
		s := newServers()
		n := run(b, b.TempDir(), s, map[string]driver.Driver{"mock_driver": mock.New()})
		j := jobOf("service", &api.Task{Name: "t", Driver: "mock_driver", Config: map[string]any{"run_for": "1h"}})
		var ids []string
		for range 1000 {
			ids = append(ids, api.NewID())
		}
		before := memory()
		begun := time.Now()
		s.messages <- placed(j, true, ids...)
		s.until(b, api.AllocClientRunning, 1000)
		b.ReportMetric(float64(time.Since(begun).Milliseconds()), "ms/1000")
		b.ReportMetric(float64(memory()-before)/1000, "B/task")
		b.StopTimer()
		n.StopAll(b.Context())
		n.stop()
		b.StartTimer()
	}
}

func memory() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// BenchmarkArrivalToStart places one instance at a time and measures until the
// driver is asked to start it, with its directories and its record made.
func BenchmarkArrivalToStart(b *testing.B) {
	s, d := newServers(), drivertest.New()
	n := run(b, b.TempDir(), s, map[string]driver.Driver{"fake": d})
	defer n.stop()
	j := jobOf("batch", &api.Task{Name: "t", Driver: "fake"})
	for i := 1; b.Loop(); i++ {
		s.messages <- placed(j, false, api.NewID())
		d.Wait(i).Exit(0)
	}
}
