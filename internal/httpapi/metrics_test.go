// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"strings"
	"testing"

	nomad "github.com/hashicorp/nomad/api"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/reeve-run/reeve/internal/testbed/wait"
)

func TestMetricsAreReadByOtherClients(t *testing.T) {
	h := newHarness(t)
	h.populate()
	var m nomad.MetricsSummary
	h.get("/v1/metrics", &m)
	values := map[string]float32{}
	for _, g := range m.Gauges {
		if g.DisplayLabels["host"] != "test" {
			t.Errorf("%s has the labels %v, want the host", g.Name, g.DisplayLabels)
		}
		values[g.Name] += g.Value
	}
	for name, want := range map[string]float32{
		"nomad.nomad.heartbeat.active": 1, "nomad.nomad.job_status.running": 1, "nomad.nomad.job_summary.starting": 1,
		"nomad.nomad.job_summary.running": 0, "nomad.nomad.broker.total_ready": 0, "nomad.nomad.blocked_evals.total_blocked": 0,
		"reeve.leader": 1,
	} {
		if got, ok := values[name]; !ok || got != want {
			t.Errorf("%s is %v (there: %v), want %v", name, got, ok, want)
		}
	}
	if values["nomad.runtime.num_goroutines"] == 0 || values["nomad.raft.appliedIndex"] == 0 || len(m.Counters) == 0 || len(m.Samples) == 0 || m.Timestamp == "" {
		t.Errorf("got %v at %q with %d counters and %d samples", values, m.Timestamp, len(m.Counters), len(m.Samples))
	}
}

func TestMetricsForPrometheus(t *testing.T) {
	h := newHarness(t)
	h.populate()
	wait.Until(t, "a submission is measured", func() bool { return h.server.Figures().Submits.Sum > 0 }) // after its outcome is in the state
	a := h.do(http.MethodGet, "/v1/metrics?format=prometheus", "")
	if a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
		t.Errorf("got %d %s", a.status, a.header.Get("Content-Type"))
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	f := families["nomad_nomad_heartbeat_active"]
	if f == nil || len(f.GetMetric()) != 1 || f.GetMetric()[0].GetGauge().GetValue() != 1 {
		t.Errorf("ready nodes: got %v, want one gauge with the value 1", f)
	}
	for _, name := range []string{"reeve_log_sync_seconds", "nomad_raft_commitTime", "nomad_nomad_plan_submit"} {
		if f := families[name]; f == nil || f.GetMetric()[0].GetSummary().GetSampleCount() == 0 {
			t.Errorf("%s: got %v, want samples", name, f)
		}
	}
	if a := h.do(http.MethodGet, "/v1/metrics?format=xml", ""); a.status != http.StatusBadRequest {
		t.Errorf("another format: got %d", a.status)
	}
}

func TestMetricsCountRequests(t *testing.T) {
	h := newHarness(t)
	count := func(name string) uint64 {
		t.Helper()
		for _, c := range h.handler.Metrics.Summary(h.handler.started).Counters {
			if c.Name == name {
				return c.Count
			}
		}
		t.Fatalf("%s does not exist", name)
		return 0
	}
	requests, queries := count("nomad.nomad.rpc.request"), count("nomad.nomad.rpc.query")
	h.do(http.MethodGet, "/v1/jobs", "")
	h.do(http.MethodPut, "/v1/jobs", "{")
	if r, q := count("nomad.nomad.rpc.request")-requests, count("nomad.nomad.rpc.query")-queries; r != 2 || q != 1 {
		t.Errorf("%d requests and %d of them queries, want 2 and 1", r, q)
	}
	if n := count("nomad.nomad.rpc.request_error"); n != 0 {
		t.Errorf("%d failures, but a bad request is the caller's fault", n)
	}
}
