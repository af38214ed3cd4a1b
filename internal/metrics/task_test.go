// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"fmt"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/metrics"
)

// withTasks are sources with n tasks, of which the second half has ended.
func withTasks(n int) metrics.Sources {
	s := empty()
	var tasks []metrics.Task
	for i := range n {
		tasks = append(tasks, metrics.Task{
			AllocID: fmt.Sprintf("%08d-0000-0000-0000-000000000000", n-i), Namespace: "default", Job: "web", Group: "web", Task: "server", Ended: i >= n/2,
			RSS: 5, Restarts: 3, ThrottledTime: 7,
		})
	}
	s.Node = func() *metrics.Node {
		return &metrics.Node{Node: &api.Node{ID: "n"}, Host: &api.HostStats{}, Tasks: tasks}
	}
	return s
}

func TestSeriesOfTasksAreBounded(t *testing.T) {
	const limit = 30
	families := scrape(t, metrics.New(withTasks(40), metrics.Limits{Groups: 1, Stacks: 1, Cores: 1, Tasks: limit}))
	for name, want := range map[string]float64{"nomad_client_allocs_memory_rss": 5, "nomad_client_allocs_restart": 3, "nomad_client_allocs_cpu_throttled_time": 7, "nomad_client_allocs_memory_swap": 0} {
		series := families[name].GetMetric()
		if len(series) != limit {
			t.Fatalf("%s: %d series, want %d", name, len(series), limit)
		}
		running := 0
		for _, m := range series {
			if got := m.GetGauge().GetValue() + m.GetCounter().GetValue(); got != want {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
			for _, l := range m.GetLabel() {
				if l.GetName() == "alloc_id" && l.GetValue() > "00000020-z" {
					running++
				}
			}
		}
		if running != 20 {
			t.Errorf("%s: %d tasks that run have series, want all 20", name, running)
		}
	}
	if got := families["reeve_node_tasks_omitted"].GetMetric()[0].GetGauge().GetValue(); got != 10 {
		t.Errorf("%v tasks omitted, want 10", got)
	}
}

// BenchmarkScrapeTasks measures a scrape of a node with 1,000 tasks, without their measurement.
func BenchmarkScrapeTasks(b *testing.B) {
	r := metrics.New(withTasks(1000), metrics.DefaultLimits)
	b.ReportAllocs()
	for b.Loop() {
		if err := r.WriteText(discard{}); err != nil {
			b.Fatal(err)
		}
	}
}
