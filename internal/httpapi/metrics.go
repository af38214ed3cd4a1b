// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// prometheusText is the content type of metrics for Prometheus.
const prometheusText = "text/plain; version=0.0.4; charset=utf-8"

// getMetrics answers with all metrics, under the names that Nomad uses.
func getMetrics(c *call) error {
	switch format := c.query.Get("format"); format {
	case "":
		return c.writeJSON(http.StatusOK, c.measure(time.Now()))
	case "prometheus":
		c.w.Header().Set("Content-Type", prometheusText)
		c.writeBody(http.StatusOK, prometheus(c.measure(time.Now())))
		return nil
	default:
		return api.Errorf(api.CodeInvalid, "format: there is no %q: use prometheus, or none for JSON", format)
	}
}

// measure computes the metrics. No metric concerns a single job or allocation: a cluster
// may have a hundred thousand.
func (c *call) measure(now time.Time) *api.MetricsSummary {
	m := &api.MetricsSummary{
		Timestamp: now.UTC().Round(time.Second).String(), Gauges: []*api.Gauge{}, Points: []*api.Gauge{}, Counters: []*api.Counter{}, Samples: []*api.Counter{},
	}
	gauge := func(name string, value float64, labels map[string]string) {
		if labels == nil {
			labels = map[string]string{}
		}
		m.Gauges = append(m.Gauges, &api.Gauge{Name: name, Value: value, Labels: labels})
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	gauge("nomad.runtime.num_goroutines", float64(runtime.NumGoroutine()), nil)
	gauge("nomad.runtime.alloc_bytes", float64(memory.Alloc), nil)
	gauge("nomad.runtime.sys_bytes", float64(memory.Sys), nil)
	gauge("nomad.runtime.heap_objects", float64(memory.HeapObjects), nil)
	gauge("nomad.runtime.total_gc_runs", float64(memory.NumGC), nil)
	gauge("nomad.runtime.total_gc_pause_ns", float64(memory.PauseTotalNs), nil)
	if c.Server == nil {
		return m
	}
	v := c.Server.Store().Snapshot()
	gauge("nomad.raft.appliedIndex", float64(v.Index()), nil)
	measureState(v, gauge)
	if c.Node != nil {
		measureNode(v, c.NodeID(), gauge)
	}
	elapsed := now.Sub(c.started).Seconds()
	for name, text := range c.Server.Stats() {
		n, err := strconv.ParseUint(text, 10, 64)
		if known := schedulerMetrics[name]; known != "" && err == nil {
			gauge(known, float64(n), nil)
		}
		if known := schedulerCounters[name]; known != "" && err == nil {
			m.Counters = append(m.Counters, &api.Counter{
				Name: known, Count: n, Rate: float64(n) / max(1, elapsed), Sum: float64(n), Min: 1, Max: 1, Mean: 1, Labels: map[string]string{},
			})
		}
	}
	slices.SortStableFunc(m.Gauges, func(a, b *api.Gauge) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(m.Counters, func(a, b *api.Counter) int { return strings.Compare(a.Name, b.Name) })
	return m
}

// Nomad's names of the scheduler's metrics.
var (
	schedulerMetrics = map[string]string{
		"evaluations_ready": "nomad.nomad.broker.total_ready", "evaluations_delayed": "nomad.nomad.broker.total_waiting",
		"evaluations_out": "nomad.nomad.broker.total_unacked", "evaluations_blocked": "nomad.nomad.blocked_evals.total_blocked",
	}
	schedulerCounters = map[string]string{
		"placements_refused": "nomad.nomad.plan.node_rejected", "log_entries": "nomad.raft.commitNumLogs", "log_proposals": "nomad.raft.apply",
	}
)

// measureState counts jobs, allocations and nodes by status.
func measureState(v *state.Snapshot, gauge func(string, float64, map[string]string)) {
	jobs := map[string]int{api.JobStatusPending: 0, api.JobStatusRunning: 0, api.JobStatusDead: 0}
	allocations := map[string]int{}
	for job := range v.JobsPrefix(allNamespaces, "") {
		jobs[job.Status]++
		for _, g := range v.JobSummary(job.Namespace, job.ID).Summary {
			allocations["queued"] += g.Queued
			allocations["starting"] += g.Starting
			allocations["running"] += g.Running
			allocations["complete"] += g.Complete
			allocations["failed"] += g.Failed
			allocations["lost"] += g.Lost
			allocations["unknown"] += g.Unknown
		}
	}
	live := 0
	for node := range v.Nodes() {
		if node.Status == api.NodeStatusReady {
			live++
		}
	}
	gauge("nomad.nomad.heartbeat.active", float64(live), nil)
	for status, n := range jobs {
		gauge("nomad.nomad.job_status."+status, float64(n), nil)
	}
	for status, n := range allocations {
		gauge("nomad.nomad.job_summary."+status, float64(n), nil)
	}
}

// measureNode measures the used and the free resources of this agent's node.
func measureNode(v *state.Snapshot, id string, gauge func(string, float64, map[string]string)) {
	node := v.Node(id)
	if node == nil {
		return
	}
	labels := map[string]string{"node_id": node.ID, "datacenter": node.Datacenter, "node_class": node.NodeClass, "node_pool": node.Pool()}
	counts := map[string]int{"pending": 0, "running": 0, "terminal": 0}
	var cpu, memory, disk int64
	for a := range v.AllocationsByNode(id) {
		if a.IsClientTerminal() {
			counts["terminal"]++
			continue
		}
		if counts[a.ClientStatus]++; a.AllocatedResources == nil {
			continue
		}
		disk += a.AllocatedResources.Shared.DiskMB
		for _, t := range a.AllocatedResources.Tasks {
			cpu, memory = cpu+t.CPU.CPUShares, memory+t.Memory.MemoryMB
		}
	}
	for status, n := range counts {
		gauge("nomad.client.allocations."+status, float64(n), labels)
	}
	gauge("nomad.client.allocated.cpu", float64(cpu), labels)
	gauge("nomad.client.allocated.memory", float64(memory), labels)
	gauge("nomad.client.allocated.disk", float64(disk), labels)
	if has := node.Resources; has != nil {
		gauge("nomad.client.unallocated.cpu", float64(has.CPU.CPUShares-cpu), labels)
		gauge("nomad.client.unallocated.memory", float64(has.Memory.MemoryMB-memory), labels)
		gauge("nomad.client.unallocated.disk", float64(has.Disk.DiskMB-disk), labels)
	}
}

// prometheus writes metrics in Prometheus' text format.
func prometheus(m *api.MetricsSummary) []byte {
	var b bytes.Buffer
	last := ""
	write := func(name, kind string, labels map[string]string, value float64) {
		name = strings.ReplaceAll(name, ".", "_")
		if name != last {
			fmt.Fprintf(&b, "# TYPE %s %s\n", name, kind)
			last = name
		}
		b.WriteString(name)
		for i, label := range slices.Sorted(maps.Keys(labels)) {
			b.WriteByte("{,"[min(i, 1)])
			fmt.Fprintf(&b, "%s=\"%s\"", label, labelEscapes.Replace(labels[label]))
		}
		if len(labels) > 0 {
			b.WriteByte('}')
		}
		fmt.Fprintf(&b, " %s\n", strconv.FormatFloat(value, 'g', -1, 64))
	}
	for _, g := range m.Gauges {
		write(g.Name, "gauge", g.Labels, g.Value)
	}
	for _, c := range m.Counters {
		write(c.Name, "counter", c.Labels, c.Sum)
	}
	return b.Bytes()
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// getKeys answers with an empty list of keys that sign the identities of tasks, because
// tasks have no identities. Clients that begin with this request then continue.
func getKeys(c *call) error {
	return c.writeJSON(http.StatusOK, map[string][]any{"keys": {}})
}
